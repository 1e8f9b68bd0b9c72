import { createServer } from 'node:http';
import { reportReady } from './rest.js';

/** As fast as Node's own HTTP server is: it reads nothing, asks nobody and always says the same. */
const body = Buffer.from(process.env.BODY ?? '{}');
const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };

createServer((_request, response) => {
  response.writeHead(200, headers).end(body);
}).listen(Number(process.env.PORT), '127.0.0.1', reportReady);
