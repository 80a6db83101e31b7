return call('SMEMBERS', base .. ':paused')
