import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';
import { giveContinue } from './expect-continue.ts';

/** The request and response classes to hand to `http.createServer`. */
export interface NodeClasses {
  IncomingMessage: typeof IncomingMessage;
  ServerResponse: typeof ServerResponse;
}

/**
 * Makes the prototypes that Express gives to every request and response the prototypes of classes that Node can
 * create them with. Express replaces prototypes per request, which V8 answers by giving up its fast paths: half of
 * Express's cost. Where the object already has that prototype, the replacement does nothing.
 */
export function installNodeClasses(app: Express): void {
  class HubRequest extends IncomingMessage {
    override _read(size: number): void {
      giveContinue(this);
      super._read(size);
    }
  }
  class HubResponse extends ServerResponse {}
  app.request = adopt(HubRequest.prototype, app.request);
  app.response = adopt(HubResponse.prototype, app.response);
}

/**
 * The classes of an app made by `createApp`: `http.createServer({...nodeClasses(app)}, app)`. An app works without
 * them too (under serverless-http, which makes its own objects), only slower.
 */
export function nodeClasses(app: Express): NodeClasses {
  return {
    IncomingMessage: app.request.constructor as typeof IncomingMessage,
    ServerResponse: app.response.constructor as unknown as typeof ServerResponse,
  };
}

/** Puts `prototype` in the place of Express's `original`: the same parent, the same own members. */
function adopt<T extends object>(prototype: object, original: T): T {
  Object.setPrototypeOf(prototype, Object.getPrototypeOf(original));
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(original));
  return prototype as T;
}
