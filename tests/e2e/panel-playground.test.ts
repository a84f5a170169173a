import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ADMIN_KEY, defaultConfig } from '../helpers/hub-process.ts';
import { panelForTests } from '../helpers/panel-page.ts';
import { startHub } from '../helpers/start-hub.ts';
import { until } from '../helpers/until.ts';

const panels = panelForTests();

const open = async (options = {}) => {
  const panel = await panels.open(options);
  await panel.enter();
  return panel;
};

describe('trying a target', () => {
  test.each([
    ['streamed', true],
    ['whole', false],
  ])('shows the answer, %s, with its tokens and times, and the numbers follow', async (_name, stream) => {
    const { page, tab } = await open();
    const before = (await panels.panelHub.admin('/admin/runtime/usage')).requests.total;
    const ai = await tab('ai');
    await ai.getByRole('combobox', { name: 'Target' }).selectOption('writer');
    await ai.getByLabel('Stream').setChecked(stream);
    await ai.getByRole('button', { name: 'Send' }).click();
    await ai
      .getByTestId('chat-answer')
      .getByText(/one door in front of providers/)
      .waitFor();
    const facts = ai.locator('.answer');
    await facts.getByText('412', { exact: true }).waitFor();
    const text = await facts.innerText();
    expect(text).toMatch(/Completion tokens\s+\d+/);
    expect(text).toMatch(/Finish reason\s+stop/);
    expect(text).toMatch(/Model\s+demo-large/);
    expect(text).toMatch(/Total\s+[\d.]+ ms/);
    expect(/First token\s+[\d.]+ ms/.test(text)).toBe(stream);
    await tab('dashboard');
    await until(
      'the count',
      async () => (await page.getByTestId('requests').innerText()) === String(before + 1),
      {
        timeoutMs: 20_000,
      },
    );
  });

  test('shows a refusal in the words of the hub', async () => {
    const { tab, page } = await open();
    await page.route('**/v1/chat/completions', (route) =>
      route.fulfill({ status: 429, json: { error: { message: 'slow down', code: 'rate_limited' } } }),
    );
    const ai = await tab('ai');
    await ai.getByRole('button', { name: 'Send' }).click();
    await ai.getByRole('alert').getByText('slow down').waitFor();
  });

  test('takes the operator’s bearer where main authentication is on, never the admin key', async () => {
    const token = 'a-callers-own-token';
    const sha256 = createHash('sha256').update(token).digest('hex');
    const guarded = await startHub({
      config: {
        ...defaultConfig,
        hub: { host: '127.0.0.1' },
        auth: {
          ...defaultConfig.auth,
          enabled: true,
          type: 'apiKey',
          apiKeys: [{ id: 'operator', sha256 }],
          session: { cookie: { secret: 'a-session-secret-of-thirty-two-characters' } },
        },
      },
    });
    const { tab, page } = await open({ url: guarded.url });
    const ai = await tab('ai');
    const sent: Record<string, string>[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/v1/')) sent.push(request.headers());
    });
    await ai.getByRole('button', { name: 'Send' }).click();
    await ai
      .getByRole('alert')
      .getByText(/Main authentication is on/)
      .waitFor();
    await ai.getByLabel('Bearer token').fill(token);
    await ai.getByRole('button', { name: 'Send' }).click();
    await ai.getByTestId('chat-answer').getByText('Say hello in one sentence.').waitFor();
    expect(sent.map(({ authorization }) => authorization)).toEqual([undefined, `Bearer ${token}`]);
    expect(JSON.stringify(sent)).not.toContain(ADMIN_KEY);
    const kept = () => page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])');
    expect(await kept()).toContain(token);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Admin key').waitFor();
    expect(await kept()).not.toContain(token);
    await guarded.stop('SIGKILL');
  });
});

describe('trying a tool', () => {
  test('makes a form of its schema and shows what it says', async () => {
    const { tab, errors } = await open();
    const mcp = await tab('mcp');
    await mcp.getByRole('button', { name: 'List tools' }).click();
    const tool = mcp.getByRole('combobox', { name: 'Tool', exact: true });
    await tool.selectOption('get-sum');
    await mcp.getByRole('spinbutton', { name: /^a / }).fill('19');
    await mcp.getByRole('spinbutton', { name: /^b / }).fill('23');
    await mcp.getByRole('button', { name: 'Run' }).click();
    await mcp.getByTestId('tool-answer').getByText('The sum of 19 and 23 is 42.').waitFor();
    await tool.selectOption('get-tiny-image');
    await mcp.getByRole('button', { name: 'Run' }).click();
    const image = mcp.getByTestId('tool-answer').getByRole('img');
    await image.waitFor();
    expect(
      await image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth),
    ).toBeGreaterThan(0);
    await tool.selectOption('echo');
    await mcp.getByRole('textbox', { name: /^message/ }).fill('<b>as it is</b>');
    await mcp.getByRole('button', { name: 'Run' }).click();
    await mcp.getByTestId('tool-answer').getByText('<b>as it is</b>').waitFor();
    expect(errors).toEqual([]);
  });

  test('of a server that is down says so', async () => {
    const { tab } = await open();
    const mcp = await tab('mcp');
    await mcp.getByRole('combobox', { name: 'Server' }).selectOption('mailer');
    await mcp.getByRole('button', { name: 'List tools' }).click();
    await mcp.getByText('This server offers no tools now.').waitFor();
  });
});
