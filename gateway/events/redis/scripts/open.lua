-- The end of the log, and the key of cursors where one is kept here.
return { epoch, text(number('head')), redis.call('GET', base .. 'cursor-key') or '' }
