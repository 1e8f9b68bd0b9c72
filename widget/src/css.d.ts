/** A style sheet as text, minified by the build. */
declare module '*.css?inline' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: how Vite gives a style sheet
  export default text;
}
