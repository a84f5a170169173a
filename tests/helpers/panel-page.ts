import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { collectErrors } from './browser.ts';
import { ADMIN_KEY } from './hub-process.ts';

/** A busy machine may take its time; a test that waits longer has failed. */
export const PATIENCE_MS = 20_000;

/** The panel in a browser. */
export interface OpenPanel {
  page: Page;
  context: BrowserContext;
  /** Uncaught errors and what the console calls one. */
  errors: string[];
  signIn(key?: string): Promise<void>;
  /** Selects a tab and gives its panel. */
  tab(id: 'dashboard' | 'ai' | 'proxies' | 'mcp' | 'config' | 'system'): Promise<ReturnType<Page['locator']>>;
}

/** Opens the panel in a profile of its own. */
export async function openPanel(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPanel> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const errors = collectErrors(page);
  await page.goto(url.includes('/admin/panel') ? url : `${url}/admin/panel`);
  return {
    page,
    context,
    errors,
    async signIn(key = ADMIN_KEY) {
      await page.getByLabel('Admin key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
    },
    async tab(id) {
      await page.locator(`#tab-${id}`).click();
      const panel = page.locator(`#panel-${id}`);
      await panel.waitFor();
      return panel;
    },
  };
}
