import { beforeAll, describe, expect, test } from '@jest/globals';
import { type OpenPanel, openPanel, panelForTests } from '../helpers/panel-page.ts';

const panels = panelForTests();
let panel: OpenPanel;
// biome-ignore lint/suspicious/noExplicitAny: the API's answer, which the page is compared with
let runtime: any;

beforeAll(async () => {
  const { panelHub, browser } = panels;
  await panelHub.makeTraffic(2);
  // One page for all tests.
  panel = await openPanel(browser, panelHub.hub.url);
  await panel.enter();
  runtime = await panelHub.admin('/admin/runtime');
}, 120_000);

const whole = (value: number) => new Intl.NumberFormat('en-US').format(value);
/** As the page writes milliseconds. */
const ms = (value: number | null) => {
  if (value === null) return '–';
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  return value >= 100 ? `${whole(Math.round(value))} ms` : `${value.toFixed(value >= 10 ? 1 : 2)} ms`;
};
const textOf = (id: string) => panel.page.getByTestId(id).innerText();

describe('the panel of a hub that has work', () => {
  test('shows on its Dashboard the totals of the API [S4.5-panel-dashboard, S2.10-panel-shows]', async () => {
    const { requests, tokens, latencyMs } = runtime.runtimeUsage;
    const dashboard = await panel.tab('dashboard');
    expect(requests.total).toBe(10);
    expect(await textOf('requests')).toBe(whole(requests.total));
    expect(await textOf('error-rate')).toBe('20 %');
    expect(await textOf('tokens')).toBe(whole(tokens.total));
    expect(await textOf('streaming')).toBe('40 %');
    expect(await textOf('latency')).toBe(ms(latencyMs.p50));
    const text = await dashboard.innerText();
    expect(text).toContain(`${whole(tokens.prompt)} prompt · ${whole(tokens.completion)} completion`);
    for (const model of runtime.runtimeUsage.activeModels) expect(text).toContain(model);
    for (const [reason, number] of Object.entries(runtime.runtimeUsage.finishReasons)) {
      expect(text).toMatch(new RegExp(`${reason}\\s+${number}`));
    }
    expect(await dashboard.locator('canvas').count()).toBe(3);
  });

  test('draws the last hour and the last day', async () => {
    const dashboard = await panel.tab('dashboard');
    await dashboard.getByText('Last day').click();
    await dashboard.getByRole('figure', { name: 'Requests in ten minutes' }).waitFor();
    await dashboard.getByText('Last hour').click();
    await dashboard.getByRole('figure', { name: 'Requests a minute' }).waitFor();
    const drawn = await dashboard
      .locator('canvas')
      .first()
      .evaluate((canvas) => {
        const { width, height } = canvas as unknown as { width: number; height: number };
        const context = (
          canvas as unknown as {
            getContext(kind: '2d'): { getImageData(...box: number[]): { data: number[] } };
          }
        ).getContext('2d');
        return Array.from(context.getImageData(0, 0, width, height).data).some((value) => value !== 0);
      });
    expect(drawn).toBe(true);
  });

  test('breaks usage down by model, provider, target and action [S4.5-panel-ailink, S2.10-panel-shows]', async () => {
    const ai = await panel.tab('ai');
    const { models, providers, targets, actions } = runtime.runtimeUsage;
    const kinds = [
      ['Models', models, 'model'],
      ['Providers', providers, 'provider'],
      ['Targets', targets, 'target'],
      ['Actions', actions, 'action'],
    ] as const;
    for (const [title, rows, name] of kinds) {
      await ai.getByRole('group', { name: 'Breakdown' }).getByText(title).click();
      const table = ai.getByRole('region', { name: `Usage by ${name}` });
      for (const row of rows) {
        const key = name === 'model' ? `${row.provider} ${row.model}` : row[name];
        const shown = table.locator(`tr[data-key="${key}"]`);
        const cell = (column: string) => shown.locator(`td[data-column="${column}"]`).innerText();
        expect([await cell('Requests'), await cell('Errors')]).toEqual([
          whole(row.requests),
          whole(row.errors),
        ]);
        expect([await cell('Prompt'), await cell('Completion')]).toEqual([
          whole(row.promptTokens),
          whole(row.completionTokens),
        ]);
        expect([await cell('Average'), await cell('Min'), await cell('Max'), await cell('p95')]).toEqual(
          ['avg', 'min', 'max', 'p95'].map((part) => ms(row.latencyMs[part])),
        );
        expect(await cell('First token p50')).toBe(ms(row.firstTokenMs.p50));
      }
      expect(await table.locator('tbody tr').count()).toBe(rows.length);
    }
  });

  test('sorts a table by its heads', async () => {
    const ai = await panel.tab('ai');
    await ai.getByRole('group', { name: 'Breakdown' }).getByText('Models').click();
    const table = ai.getByRole('region', { name: 'Usage by model' });
    await table.getByRole('button', { name: 'Prompt' }).click();
    expect(await table.getByRole('columnheader', { name: 'Prompt' }).getAttribute('aria-sort')).toBe(
      'descending',
    );
    const shown = await table.locator('td[data-column="Prompt"]').allInnerTexts();
    const numbers = shown.map((text) => Number(text.replaceAll(',', '')));
    expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
  });

  test('shows proxies with their header settings and counts [S4.5-panel-proxies]', async () => {
    const proxies = await panel.tab('proxies');
    const row = proxies.locator('tr[data-key="wiki"]');
    const [configured] = runtime.configurationSummary.proxies.items;
    const text = await row.innerText();
    for (const part of ['wiki', configured.url, 'cookie', 'x-internal', 'server', '200 × 2', '404 × 2']) {
      expect(text).toContain(part);
    }
    expect(await row.locator('td[data-column="Requests"]').innerText()).toBe('4');
    const idle = proxies.locator('tr[data-key="status"]');
    expect(await idle.locator('td[data-column="Requests"]').innerText()).toBe('0');
    expect(await idle.innerText()).toContain('public');
  });

  test('shows tool servers with state, latency, errors, tools and stderr [S4.5-panel-mcp]', async () => {
    const mcp = await panel.tab('mcp');
    const [everything] = runtime.mcpConnections;
    const server = mcp.locator('[data-server="everything"]');
    const text = await server.innerText();
    for (const part of [
      'connected',
      'stdio',
      'autoConnect',
      'healthy',
      '4 calls',
      '2 errors',
      everything.endpoint,
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toContain(`${ms(everything.latencyMs.avg)} average`);
    for (const tool of everything.tools) {
      const row = server.locator(`tr[data-key="${tool.name}"]`);
      expect(await row.locator('td[data-column="Calls"]').innerText()).toBe(whole(tool.invocations));
      expect(await row.locator('td[data-column="Errors"]').innerText()).toBe(whole(tool.errors));
      expect(await row.locator('td[data-column="Average"]').innerText()).toBe(ms(tool.avgMs));
    }
    const broken = mcp.locator('[data-server="mailer"]');
    await broken.getByText(/Stderr, last/).click();
    expect(await broken.innerText()).toContain('no configuration found, giving up');
    expect(await broken.innerText()).toMatch(/backoff|connecting/);
    expect(await panel.page.getByTestId('status').innerText()).toContain('need');
  });

  test('shows the redacted configuration, collapsible and searchable [S4.5-panel-config]', async () => {
    const config = await panel.tab('config');
    await config.getByText('targets:').first().waitFor();
    await config.getByRole('searchbox').fill('apikey');
    await config.locator('.json mark').first().waitFor();
    const found = await config.locator('.json').innerText();
    expect(found).toContain('[REDACTED]');
    expect(found).not.toContain('panel-provider-secret');
    expect(found).not.toContain('shutdownTimeout');
    await config.getByRole('searchbox').fill('no such text anywhere');
    await config.getByText('Nothing found').waitFor();
    await config.getByRole('searchbox').fill('');
    const hub = config.locator('.json summary', { hasText: /^hub:/ });
    await hub.click();
    expect(await config.locator('.json').innerText()).not.toContain('shutdownTimeout');
  });

  test('saves what it shows as JSON', async () => {
    const config = await panel.tab('config');
    const [download] = await Promise.all([
      panel.page.waitForEvent('download'),
      config.getByRole('button', { name: 'Download config as JSON' }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual(
      await panels.panelHub.admin('/admin/config'),
    );
  });

  test('shows the facts of the system and the raw usage [S4.5-panel-system]', async () => {
    const system = await panel.tab('system');
    const { process: facts, companion } = runtime;
    const text = await system.innerText();
    expect(text).toContain(facts.nodeVersion);
    expect(text).toContain(facts.platform);
    expect(text).toContain(String(facts.pid));
    expect(text).toContain(String(companion.pid));
    expect(text).toMatch(/0 d 0 h \d+ min/);
    expect(text).toMatch(/Resident \(rss\)\s+\d+ MB/);
    expect(text).toContain('runtimeUsage');
    expect(text).toMatch(/streamingRatio:\s*0\.4/);
  });

  test('has broken no rule of its own CSP and thrown nothing', () => {
    expect(panel.errors).toEqual([]);
  });
});
