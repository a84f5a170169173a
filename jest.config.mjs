/** Tests are ES modules, compiled by swc; `npm test` builds first, because most tests run the real hub. */
const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/(bench|dist|\\.serverless|\\.esbuild)/'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
};

export default {
  projects: [
    {
      ...common,
      displayName: 'hub',
      testMatch: ['<rootDir>/tests/**/*.test.ts'],
      testPathIgnorePatterns: ['<rootDir>/tests/contract/'],
    },
    {
      ...common,
      displayName: 'contract',
      testMatch: ['<rootDir>/tests/contract/**/*.test.ts'],
      // Starts the gateway and serverless-offline once for all files; runs only when a contract test runs.
      globalSetup: '<rootDir>/tests/helpers/contract-setup.mjs',
      globalTeardown: '<rootDir>/tests/helpers/contract-teardown.mjs',
    },
  ],
  reporters: ['default', '<rootDir>/tests/helpers/requirements-reporter.mjs'],
  maxWorkers: 2,
  testTimeout: 60_000,
};
