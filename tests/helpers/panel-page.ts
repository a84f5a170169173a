import { afterAll, afterEach, beforeAll } from '@jest/globals';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { collectErrors, startBrowser } from './browser.ts';
import { ADMIN_KEY, stopAllHubs } from './hub-process.ts';
import { type PanelHub, type PanelHubOptions, startPanelHub } from './panel-hub.ts';
import { stopAfterFile } from './temp-folder.ts';

/** A busy machine may take its time; a test that waits longer has failed. */
export const PATIENCE_MS = 20_000;

/** The panel in a browser. */
export interface OpenPanel {
  page: Page;
  context: BrowserContext;
  /** Uncaught errors and what the console calls one. */
  errors: string[];
  signIn(key?: string): Promise<void>;
  /** Signs in and waits until the numbers are there. */
  enter(): Promise<void>;
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
  const signIn = async (key = ADMIN_KEY) => {
    await page.getByLabel('Admin key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };
  return {
    page,
    context,
    errors,
    signIn,
    async enter() {
      await signIn();
      await page.getByTestId('requests').waitFor();
    },
    async tab(id) {
      await page.locator(`#tab-${id}`).click();
      const panel = page.locator(`#panel-${id}`);
      await panel.waitFor();
      return panel;
    },
  };
}

/** A hub and a browser for the tests of a file; there from its `beforeAll` on. */
export interface PanelTests {
  readonly panelHub: PanelHub;
  readonly browser: Browser;
  /** Opens the panel of this hub, or of the one at `url`; closed after the test. */
  open(options?: BrowserContextOptions & { url?: string }): Promise<OpenPanel>;
}

/** Starts a hub with every kind of thing and a browser for the tests of a file; both end with it. */
export function panelForTests(hubOptions?: PanelHubOptions): PanelTests {
  let panelHub: PanelHub;
  let browser: Browser;
  const contexts: BrowserContext[] = [];

  // A hub too that is not told of here, because the browser did not start.
  stopAfterFile(stopAllHubs);
  beforeAll(async () => {
    [panelHub, browser] = await Promise.all([startPanelHub(hubOptions), startBrowser()]);
  }, 120_000);
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
  });
  afterAll(async () => {
    await browser?.close();
    await panelHub?.stop();
  });

  return {
    get panelHub() {
      return panelHub;
    },
    get browser() {
      return browser;
    },
    async open({ url = panelHub.hub.url, ...options } = {}) {
      const panel = await openPanel(browser, url, options);
      contexts.push(panel.context);
      return panel;
    },
  };
}
