/** Builds the window into `outdir` (`dist/renderer` by default). `dev` keeps names and adds source maps. */
export function bundleRenderer(options?: {
  readonly outdir?: string;
  readonly dev?: boolean;
}): Promise<{ readonly outdir: string; readonly files: readonly string[] }>;
