return call('HMGET', base .. ':store', 'version', 'oldest')
