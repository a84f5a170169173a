export const TABS = [
  { id: 'dashboard', label: 'Dashboard' },
  { id: 'ai', label: 'AI-Link usage' },
  { id: 'proxies', label: 'Proxies' },
  { id: 'mcp', label: 'MCP' },
  { id: 'config', label: 'Config' },
  { id: 'system', label: 'System' },
] as const;

export type TabId = (typeof TABS)[number]['id'];
