import type { Page } from 'playwright-core';
import { startBrowser } from './browser.ts';
import { ADMIN_KEY, root } from './hub-process.ts';
import { type PanelHub, startPanelHub } from './panel-hub.ts';

const TABS = ['dashboard', 'ai', 'proxies', 'mcp', 'config', 'system'] as const;
const LOOKS = [
  { name: 'light', colorScheme: 'light', viewport: { width: 1280, height: 900 } },
  { name: 'dark', colorScheme: 'dark', viewport: { width: 1280, height: 900 } },
  { name: 'narrow', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

/**
 * Takes a picture of each tab, light, dark and narrow, and of the first page. Calls, tools and proxies are real; the
 * hub is too young to have an hour of history, so that the charts get a day of sample traffic.
 * @param fileOf path of a picture
 * @returns the names of the pictures
 */
export async function takeScreenshots(fileOf: (name: string) => string): Promise<string[]> {
  const panelHub = await startPanelHub({ config: { swagger: { enabled: true } } });
  const browser = await startBrowser();
  const names: string[] = [];
  try {
    await panelHub.makeTraffic(6);
    for (const { name: look, colorScheme, viewport } of LOOKS) {
      const context = await browser.newContext({ colorScheme, viewport, deviceScaleFactor: 1 });
      const page = await context.newPage();
      await page.route('**/admin/runtime', withSampleHistory);
      await page.goto(`${panelHub.hub.url}/admin/panel`);
      const take = async (name: string, fullPage = true) => {
        await page.screenshot({ path: fileOf(`${name}-${look}`), fullPage });
        names.push(`${name}-${look}`);
      };
      await take('sign-in', false);
      await page.getByLabel('Admin key').fill(ADMIN_KEY);
      await page.getByRole('button', { name: 'Sign in' }).click();
      for (const tab of TABS) {
        await page.locator(`#tab-${tab}`).click();
        await page.locator(`#panel-${tab} .card, #panel-${tab} .json`).first().waitFor();
        await prepare(page, tab);
        await take(tab);
      }
      if (await docsExist(panelHub)) {
        await page.goto(`${panelHub.hub.url}/docs`);
        await page.locator('#postV1ChatCompletions > summary').click();
        await page.locator('#postV1ChatCompletions .try').waitFor();
        await take('api-docs', false);
      }
      await context.close();
    }
  } finally {
    await browser.close();
    await panelHub.stop();
  }
  return names;
}

async function docsExist({ hub }: PanelHub): Promise<boolean> {
  return (await fetch(`${hub.url}/docs`)).ok;
}

async function prepare(page: Page, tab: (typeof TABS)[number]): Promise<void> {
  if (tab === 'ai') {
    await page.getByRole('combobox', { name: 'Target', exact: true }).selectOption('writer');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('one door in front').waitFor();
    await page.getByRole('button', { name: 'Send' }).waitFor();
  }
  if (tab === 'mcp') {
    await page.locator('[data-server="mailer"] summary').first().click();
    await page.getByRole('button', { name: 'List tools' }).click();
    await page.getByRole('combobox', { name: 'Tool', exact: true }).selectOption('get-sum');
    await page.getByRole('spinbutton', { name: /^a / }).fill('19');
    await page.getByRole('spinbutton', { name: /^b / }).fill('23');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByText('42').first().waitFor();
  }
  await page.getByTestId('countdown').getByText(/ s$/).waitFor();
  await page.evaluate('scrollTo(0, 0)');
}

/** A day as an office has it: quiet at night, busy at noon, a bad quarter of an hour. */
async function withSampleHistory(route: Parameters<Parameters<Page['route']>[1]>[0]): Promise<void> {
  const response = await route.fetch();
  // Where this working copy lies is nobody's business.
  const body = JSON.parse((await response.text()).replaceAll(root, '/srv/hub'));
  if (body.runtimeUsage) {
    const last = Date.parse(body.runtimeUsage.history.at(-1).at);
    body.runtimeUsage.history = Array.from({ length: 1440 }, (_, index) => {
      const wave =
        Math.sin((index / 1440) * Math.PI) * 14 + Math.sin(index / 7) * 4 + Math.sin(index / 2.3) * 2 + 9;
      const requests = Math.max(0, Math.round(wave));
      const isBad = index > 1402 && index < 1412;
      return {
        at: new Date(last - (1439 - index) * 60_000).toISOString(),
        requests,
        errors: isBad ? Math.round(requests / 2) : index % 17 === 0 ? 1 : 0,
        promptTokens: requests * 380 + (index % 5) * 90,
        completionTokens: requests * 140 + (index % 7) * 60,
        latencyAvgMs: 420 + Math.sin(index / 9) * 120 + (isBad ? 900 : 0),
      };
    });
  }
  await route.fulfill({ response, json: body });
}
