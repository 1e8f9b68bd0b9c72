import process from 'node:process';
import { serveGallery } from './server.ts';

const { url } = await serveGallery();
process.stdout.write(`The gallery is at ${url}\n`);
