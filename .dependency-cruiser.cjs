/** The import rules of the rooms (docs/architecture.md). `npm run lint` holds them. */
const capabilities = ['ai', 'mcp', 'videohost', 'proxy', 'admin', 'health', 'docs'];
const vendor = (name, packages, home) => ({
  name: `${name}-at-home`,
  comment: `${packages} is known only to ${home}`,
  severity: 'error',
  from: { path: '^(lib|handlers|gateway|companion)/', pathNot: home },
  to: { path: packages },
});
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'nothing-imports-the-entries',
      severity: 'error',
      from: { path: '^lib/' },
      to: { path: '^(handlers|gateway|companion)/' },
    },
    {
      name: 'handlers-import-app-and-routes',
      severity: 'error',
      from: { path: '^handlers/' },
      to: { path: '^(lib|gateway|companion)/', pathNot: '^lib/(app/|[a-z]+/routes\\.ts$)' },
    },
    ...capabilities.map((name) => ({
      name: `${name}-stands-alone`,
      comment: 'capabilities never import each other; what admin shows is handed in at wiring',
      severity: 'error',
      from: { path: `^lib/${name}/` },
      to: { path: `^lib/(${capabilities.filter((other) => other !== name).join('|')})/` },
    })),
    {
      name: 'errors-and-config-import-nothing-else',
      severity: 'error',
      from: { path: '^lib/(errors|config)/' },
      to: { path: '^lib/', pathNot: '^lib/(errors|config)/' },
    },
    vendor('express', '^express$|node_modules/express/', '^lib/(http/|app/|[a-z]+/routes\\.ts$)'),
    vendor('serverless-http', 'node_modules/serverless-http/', '^handlers/adapter\\.ts$'),
    vendor('googleapis', 'node_modules/googleapis', '^lib/videohost/google/'),
    vendor('mcp-sdk', 'node_modules/@modelcontextprotocol/', '^lib/mcp/'),
    vendor('aws-sdk', 'node_modules/@aws-sdk/', '/s3\\.ts$'),
    vendor('powertools', 'node_modules/@aws-lambda-powertools/', '^lib/logging/'),
    vendor('ajv', 'node_modules/ajv/', '^lib/(config|mcp)/'),
    vendor('yaml', 'node_modules/yaml/', '^lib/config/'),
    {
      name: 'admin-site-types-only',
      severity: 'error',
      from: { path: '^admin-site/' },
      to: { path: '^lib/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'no-dev-dependencies',
      severity: 'error',
      from: { path: '^(lib|handlers|gateway|companion)/' },
      // The swc parser does not tell type-only imports; nothing of @types exists at run time.
      to: { dependencyTypes: ['npm-dev'], pathNot: 'node_modules/@types/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    parser: 'swc',
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
