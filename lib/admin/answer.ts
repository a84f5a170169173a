import type { ServerResponse } from 'node:http';
import { sendText } from '../http/json-response.ts';
import { createJsonMask, createMask } from '../logging/mask.ts';

/** Sends the answers of admin routes: the one place where configured secrets are cut out of all of them. */
export interface AdminAnswers {
  json(response: ServerResponse, value: unknown): void;
  text(response: ServerResponse, contentType: string, text: string): void;
}

/** Admin answers are for the one who asked, now. */
const NO_STORE = { 'cache-control': 'no-store' };

export function createAdminAnswers(secrets: readonly string[]): AdminAnswers {
  const maskJson = createJsonMask(secrets);
  const mask = createMask(secrets);
  return {
    json(response, value) {
      sendText(response, 200, 'application/json; charset=utf-8', maskJson(JSON.stringify(value)), NO_STORE);
    },
    text(response, contentType, text) {
      sendText(response, 200, contentType, mask(text), NO_STORE);
    },
  };
}
