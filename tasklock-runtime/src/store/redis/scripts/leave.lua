-- ARGV: name, ticket.
leave_line(ARGV[1], ARGV[2])
free(ARGV[1])
return 0
