import type { Provider as ProviderName } from '../../config/schema/targets.ts';
import * as azureErrors from './azure/errors.ts';
import * as azureRequest from './azure/request.ts';
import * as azureResponse from './azure/response.ts';
import * as azureStream from './azure/stream.ts';
import * as echoErrors from './echo/errors.ts';
import * as echoRequest from './echo/request.ts';
import * as echoResponse from './echo/response.ts';
import * as echoStream from './echo/stream.ts';
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
export const PROVIDERS: Partial<Record<ProviderName, Provider>> = {
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
