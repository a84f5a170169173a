import type { Provider as ProviderName } from '../../config/schema/targets.ts';
import * as anthropicErrors from './anthropic/errors.ts';
import * as anthropicRequest from './anthropic/request.ts';
import * as anthropicResponse from './anthropic/response.ts';
import * as anthropicStream from './anthropic/stream.ts';
import * as azureErrors from './azure/errors.ts';
import * as azureRequest from './azure/request.ts';
import * as azureResponse from './azure/response.ts';
import * as azureStream from './azure/stream.ts';
import * as echoErrors from './echo/errors.ts';
import * as echoRequest from './echo/request.ts';
import * as echoResponse from './echo/response.ts';
import * as echoStream from './echo/stream.ts';
import * as geminiErrors from './gemini/errors.ts';
import * as geminiRequest from './gemini/request.ts';
import * as geminiResponse from './gemini/response.ts';
import * as geminiStream from './gemini/stream.ts';
import * as ollamaErrors from './ollama/errors.ts';
import * as ollamaRequest from './ollama/request.ts';
import * as ollamaResponse from './ollama/response.ts';
import * as ollamaStream from './ollama/stream.ts';
import * as openaiErrors from './openai/errors.ts';
import * as openaiRequest from './openai/request.ts';
import * as openaiResponse from './openai/response.ts';
import * as openaiStream from './openai/stream.ts';
import * as compatibleErrors from './openai-compatible/errors.ts';
import * as compatibleRequest from './openai-compatible/request.ts';
import * as compatibleResponse from './openai-compatible/response.ts';
import * as compatibleStream from './openai-compatible/stream.ts';
import type { Provider } from './provider.ts';

/** Every provider that a target may name. */
export const PROVIDERS: Record<ProviderName, Provider> = {
  anthropic: { ...anthropicErrors, ...anthropicRequest, ...anthropicResponse, ...anthropicStream },
  gemini: { ...geminiErrors, ...geminiRequest, ...geminiResponse, ...geminiStream },
  ollama: { ...ollamaErrors, ...ollamaRequest, ...ollamaResponse, ...ollamaStream },

  azure: { ...azureErrors, ...azureRequest, ...azureResponse, ...azureStream },
  echo: { ...echoErrors, ...echoRequest, ...echoResponse, ...echoStream },
  openai: { ...openaiErrors, ...openaiRequest, ...openaiResponse, ...openaiStream },
  'openai-compatible': {
    ...compatibleErrors,
    ...compatibleRequest,
    ...compatibleResponse,
    ...compatibleStream,
  },
};
