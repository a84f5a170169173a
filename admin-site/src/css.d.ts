/** Styles that esbuild bundles. */
declare module '*.css';
