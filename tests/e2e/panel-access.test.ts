import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { seriousFindings } from '../helpers/accessibility.ts';
import { panelForTests } from '../helpers/panel-page.ts';
import { until } from '../helpers/until.ts';

const TABS = ['dashboard', 'ai', 'proxies', 'mcp', 'config', 'system'] as const;

const panels = panelForTests({ config: { swagger: { enabled: true } } });

beforeAll(() => panels.panelHub.makeTraffic());

describe.each(['light', 'dark'] as const)('in the %s theme', (colorScheme) => {
  test('no tab has anything serious by axe-core [C8-panel-a11y]', async () => {
    const { page, signIn, tab } = await panels.open({ colorScheme });
    expect(await seriousFindings(page)).toEqual([]);
    await signIn();
    for (const id of TABS) {
      const shown = await tab(id);
      await shown.locator('.card').first().waitFor();
      expect([id, await seriousFindings(page)]).toEqual([id, []]);
    }
    await page.getByRole('button', { name: 'Reset statistics' }).click();
    await page.getByRole('dialog').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  test('nor have the API docs', async () => {
    const { page, context } = await openDocs({ colorScheme });
    await page.locator('#postV1ChatCompletions > summary').click();
    await page.locator('#postV1ChatCompletions .try').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await context.close();
  });
});

async function openDocs(options: object) {
  const context = await panels.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  await page.goto(`${panels.panelHub.hub.url}/docs`);
  await page.locator('.operation').first().waitFor();
  return { page, context };
}

describe('by keyboard', () => {
  test('the tabs are a tablist that arrow keys, Home and End move in [C8-panel-a11y]', async () => {
    const { page, signIn } = await panels.open();
    await page.keyboard.type('wrong');
    expect(await page.getByLabel('Admin key').inputValue()).toBe('wrong');
    await signIn();
    const tabs = page.getByRole('tablist').getByRole('tab');
    await tabs.first().waitFor();
    expect(await tabs.allInnerTexts()).toEqual([
      'Dashboard',
      'AI-Link usage',
      'Proxies',
      'MCP',
      'Config',
      'System',
    ]);
    const selected = () => page.getByRole('tab', { selected: true }).innerText();
    const focused = () => page.evaluate<string>('document.activeElement.textContent');
    const press = async (key: string, name: string) => {
      await page.keyboard.press(key);
      await until(`the focus on ${name}`, async () => (await focused()) === name, { timeoutMs: 20_000 });
      expect(await selected()).toBe(name);
      await page.getByRole('tabpanel', { name }).waitFor();
      expect(await page.getByRole('tabpanel').count()).toBe(1);
    };
    await tabs.first().focus();
    await press('ArrowRight', 'AI-Link usage');
    await press('ArrowLeft', 'Dashboard');
    await press('ArrowLeft', 'System');
    await press('ArrowRight', 'Dashboard');
    await press('End', 'System');
    await press('Home', 'Dashboard');
    // One stop for all tabs: the next one is in the page.
    await page.keyboard.press('Tab');
    expect(await page.evaluate<string>('document.activeElement.getAttribute("role") ?? ""')).not.toBe('tab');
  });

  test('what is shown stays after a reload: the tab stands in the address', async () => {
    const { page, signIn, tab } = await panels.open();
    await signIn();
    await tab('proxies');
    await page.reload();
    await page.getByRole('tabpanel', { name: 'Proxies' }).waitFor();
  });
});

describe('at 390 px', () => {
  const overflow = (page: Page) =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  const narrow = { viewport: { width: 390, height: 844 } };

  test('no tab scrolls sideways [C8-panel-narrow]', async () => {
    const { page, signIn, tab } = await panels.open(narrow);
    expect(await overflow(page)).toBe(0);
    await signIn();
    for (const id of TABS) {
      const shown = await tab(id);
      await shown.locator('.card').first().waitFor();
      for (const summary of await shown.locator('details.server:not([open]) > summary').all())
        await summary.click();
      expect([id, await overflow(page)]).toEqual([id, 0]);
    }
    for (const name of ['Refresh now', 'Reset statistics', 'Sign out']) {
      expect(await page.getByRole('button', { name }).isVisible()).toBe(true);
    }
  });

  test('nor do the API docs', async () => {
    const { page, context } = await openDocs(narrow);
    await page.locator('#postVideohostUpload > summary').click();
    await page.locator('#postVideohostUpload .try').waitFor();
    expect(await overflow(page)).toBe(0);
    await context.close();
  });
});
