import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { collectErrors, startBrowser } from '../helpers/browser.ts';
import { send } from '../helpers/http.ts';
import { ADMIN_KEY, defaultConfig } from '../helpers/hub-process.ts';
import { PATIENCE_MS } from '../helpers/panel-page.ts';
import { type HubProcess, startHub } from '../helpers/start-hub.ts';

let hub: HubProcess;
let browser: Browser;
let page: Page;
let errors: string[];

beforeAll(async () => {
  [hub, browser] = await Promise.all([
    startHub({ config: { ...defaultConfig, swagger: { enabled: true, path: 'docs' } } }),
    startBrowser(),
  ]);
}, 120_000);
afterAll(() => browser?.close());
afterEach(() => page?.context().close());

async function open(): Promise<void> {
  const context = await browser.newContext();
  context.setDefaultTimeout(PATIENCE_MS);
  page = await context.newPage();
  errors = collectErrors(page);
  await page.goto(`${hub.url}/docs`);
  await page.locator('.operation').first().waitFor();
}

test('the page needs nothing but the hub and shows every operation [C10-page, S2.1-swagger-enabled]', async () => {
  const context = await browser.newContext();
  page = await context.newPage();
  const elsewhere: string[] = [];
  page.on('request', (request) => {
    if (!request.url().startsWith(hub.url) && !request.url().startsWith('data:'))
      elsewhere.push(request.url());
  });
  errors = collectErrors(page);
  await page.goto(`${hub.url}/docs`);
  await page.locator('.operation').first().waitFor();
  const { paths } = (await send(`${hub.url}/docs/openapi.json`)).json();
  const operations = Object.values<object>(paths).flatMap((item) => Object.keys(item));
  expect(await page.locator('.operation').count()).toBe(operations.length);
  expect(elsewhere).toEqual([]);
  expect(errors).toEqual([]);
});

test('an operation can be tried, and shown as curl without the key [C10-page]', async () => {
  await open();
  await page.getByLabel('Admin key').fill(ADMIN_KEY);
  const usage = page.locator('#getAdminRuntimeUsage');
  await usage.locator('summary').first().click();
  await usage.getByRole('button', { name: 'Send' }).click();
  await usage.getByTestId('answer').getByText('"uptimeSeconds"').waitFor();
  await usage.getByRole('button', { name: 'As curl' }).click();
  const curl = await usage.getByText(/^curl -X GET/).innerText();
  expect(curl).toContain(`${hub.url}/admin/runtime/usage`);
  expect(curl).toContain('$ADMIN_API_KEY');
  expect(await page.locator('main').innerText()).not.toContain(ADMIN_KEY);

  const chat = page.locator('#postV1ChatCompletions');
  await chat.locator('summary').first().click();
  const sent = page.waitForRequest('**/v1/chat/completions');
  await chat.getByRole('button', { name: 'Send' }).click();
  await chat.getByTestId('answer').getByText('Hello, hub').waitFor();
  expect((await sent).headers()['x-admin-key']).toBeUndefined();
});

test('a missing parameter is named before anything is sent', async () => {
  await open();
  const show = page.locator('#getVideohostUploadsUploadId');
  await show.locator('summary').first().click();
  await show.getByRole('button', { name: 'Send' }).click();
  await show.getByRole('alert').getByText('uploadId is required').waitFor();
});

test('the search leaves what holds the words, and an address opens its operation', async () => {
  await open();
  await page.getByRole('searchbox').fill('embeddings');
  expect(await page.locator('.operation').count()).toBe(1);
  await page.goto(`${hub.url}/docs#postMcpInvoke`);
  await page.reload();
  await page.locator('#postMcpInvoke .try').waitFor();
});

test('while it is off there is neither page nor document [S2.1-swagger-enabled, C10-off]', async () => {
  const off = await startHub();
  for (const path of ['/docs', '/docs/openapi.json']) {
    const answer = await send(off.url + path);
    expect([answer.status, answer.json().error.code]).toEqual([404, 'not_found']);
  }
  await off.stop('SIGKILL');
});
