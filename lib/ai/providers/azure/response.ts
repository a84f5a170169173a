export { relayedAnswer as response } from '../../openai-wire/relayed-answer.ts';
