import { parentPort } from 'node:worker_threads';
import { readEnvironment } from '../lib/config/environment.ts';
import { serveChunks } from '../lib/videohost/sender/serve-chunks.ts';

/** Script of the thread that sends videos to the platform. */
if (parentPort === null) throw new Error('This script runs as a thread of the gateway');
serveChunks(parentPort, readEnvironment(process.env).outboundProxy);
