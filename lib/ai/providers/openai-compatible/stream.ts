export { relayedStream as stream } from '../../openai-wire/relayed-stream.ts';
