export { relayedErrors as errors } from '../../openai-wire/relayed-errors.ts';
