"""Prints what was checked, and counts what failed."""

import sys


class Checks:
    def __init__(self):
        self.failed = 0

    def expect(self, what, holds, seen):
        print(f"{'ok    ' if holds else 'FAILED'}  {what}", flush=True)
        if not holds:
            self.failed += 1
            print(f"        seen: {seen}", flush=True)

    def end(self):
        if self.failed:
            sys.exit(f"{self.failed} of the above failed")
