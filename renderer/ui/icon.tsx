import type { ReactElement } from 'react';

/** Line icons, 16 units square, drawn in the colour of the text beside them. Never the only carrier of a meaning. */
const paths = {
  ask: (
    <>
      <path d="M13.8 7.6c0 2.9-2.6 5.2-5.8 5.2-.8 0-1.6-.1-2.3-.4l-3 .9.9-2.4a4.8 4.8 0 0 1-1.4-3.3c0-2.9 2.6-5.2 5.8-5.2s5.8 2.3 5.8 5.2z" />
      <path d="M6.5 6.3c.1-.9.7-1.4 1.6-1.4s1.6.5 1.6 1.3c0 1.1-1.5 1.2-1.5 2.2" />
      <path d="M8.2 10.2v.1" strokeWidth="1.8" />
    </>
  ),
  check: <path d="m3.5 8.4 3 3 6-6.6" />,
  clock: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M8 4.8V8l2.2 1.5" />
    </>
  ),
  copy: (
    <>
      <rect x="5.5" y="5.5" width="8" height="8" rx="1.4" />
      <path d="M10.5 5.5V3.9a1.4 1.4 0 0 0-1.4-1.4H3.9a1.4 1.4 0 0 0-1.4 1.4v5.2a1.4 1.4 0 0 0 1.4 1.4h1.6" />
    </>
  ),
  diff: (
    <>
      <path d="M9.2 1.9H4.4a1.2 1.2 0 0 0-1.2 1.2v9.8a1.2 1.2 0 0 0 1.2 1.2h7.2a1.2 1.2 0 0 0 1.2-1.2V5.5z" />
      <path d="M8 5.4v3.2M6.4 7h3.2M6.4 11h3.2" />
    </>
  ),
  doctor: <path d="M1.8 8.5h2.9l1.7-4.7 3 8.6 1.8-5 .7 1.1h2.3" />,
  down: <path d="m3.8 6 4.2 4.2L12.2 6" />,
  eye: (
    <>
      <path d="M1.7 8S4 3.8 8 3.8 14.3 8 14.3 8 12 12.2 8 12.2 1.7 8 1.7 8z" />
      <circle cx="8" cy="8" r="1.9" />
    </>
  ),
  file: (
    <>
      <path d="M9.2 1.9H4.4a1.2 1.2 0 0 0-1.2 1.2v9.8a1.2 1.2 0 0 0 1.2 1.2h7.2a1.2 1.2 0 0 0 1.2-1.2V5.5z" />
      <path d="M9 2v3.7h3.7" />
    </>
  ),
  folder: (
    <path d="M1.9 4.3a1.2 1.2 0 0 1 1.2-1.2h3l1.5 1.7h5.3a1.2 1.2 0 0 1 1.2 1.2v5.7a1.2 1.2 0 0 1-1.2 1.2H3.1a1.2 1.2 0 0 1-1.2-1.2z" />
  ),
  globe: (
    <>
      <circle cx="8" cy="8" r="5.9" />
      <path d="M2.3 8h11.4M8 2.1c1.7 1.7 2.5 3.7 2.5 5.9S9.7 12.2 8 13.9C6.3 12.2 5.5 10.2 5.5 8S6.3 3.8 8 2.1z" />
    </>
  ),
  history: (
    <>
      <path d="M2.6 8a5.4 5.4 0 1 0 1.7-3.9L2.7 5.6M2.5 2.6v3h3" />
      <path d="M8 5.2V8l2 1.4" />
    </>
  ),
  download: <path d="M8 2.5v7.6M4.9 7.2 8 10.3l3.1-3.1M3 13.2h10" />,
  home: <path d="M2.5 7.2 8 2.8l5.5 4.4v5.3a1 1 0 0 1-1 1H10V9.8H6v3.7H3.5a1 1 0 0 1-1-1z" />,
  key: (
    <>
      <circle cx="5.2" cy="8" r="2.9" />
      <path d="M8.1 8h5.8v2.4M11.4 8v1.8" />
    </>
  ),
  left: <path d="M9.8 3.8 5.6 8l4.2 4.2" />,
  pause: <path d="M5.5 3.8v8.4M10.5 3.8v8.4" strokeWidth="1.9" />,
  play: <path d="M5 3.6v8.8L12.2 8z" />,
  plug: <path d="M5.5 2v3M10.5 2v3M3.7 5h8.6v2.3A4.3 4.3 0 0 1 8 11.6a4.3 4.3 0 0 1-4.3-4.3zM8 11.6V14" />,
  plus: <path d="M8 3.2v9.6M3.2 8h9.6" />,
  refresh: (
    <>
      <path d="M13.3 7.5A5.4 5.4 0 0 0 3.6 5.1M2.7 8.5a5.4 5.4 0 0 0 9.7 2.4" />
      <path d="M3.3 2.5v2.8h2.8M12.7 13.5v-2.8H9.9" />
    </>
  ),
  right: <path d="m6.2 3.8 4.2 4.2-4.2 4.2" />,
  rule: <path d="M7 4h6.5M7 8h6.5M7 12h6.5M2.3 3.9l1 1 1.7-1.9M2.3 7.9l1 1L5 7M2.3 11.9l1 1L5 11" />,
  search: (
    <>
      <circle cx="7" cy="7" r="4.3" />
      <path d="m10.3 10.3 3.4 3.4" />
    </>
  ),
  settings: (
    <>
      <path d="M2.5 4.5h6M12 4.5h1.5M2.5 11.5H4M7.5 11.5h6" />
      <circle cx="10.2" cy="4.5" r="1.7" />
      <circle cx="5.7" cy="11.5" r="1.7" />
    </>
  ),
  steer: <path d="M2.5 12.5V9.3A3.3 3.3 0 0 1 5.8 6h7M9.8 2.8 13 6l-3.2 3.2" />,
  stop: <rect x="4" y="4" width="8" height="8" rx="1.4" />,
  term: (
    <>
      <rect x="1.8" y="2.8" width="12.4" height="10.4" rx="1.8" />
      <path d="m4.6 6 2 2-2 2M8.2 10.2h3" />
    </>
  ),
  theme: (
    <>
      <circle cx="8" cy="8" r="5.7" />
      <path d="M8 2.3a5.7 5.7 0 0 1 0 11.4z" fill="currentColor" />
    </>
  ),
  tool: (
    <path d="M9.4 4.2a3 3 0 0 1 3.9-1.6l-1.9 1.9.3 1 1 .3 1.9-1.9a3 3 0 0 1-3.9 3.8l-4.9 5a1.4 1.4 0 0 1-2-2l5-4.9a3 3 0 0 1 .6-1.6z" />
  ),
  turns: (
    <>
      <path d="M2.5 4h11M2.5 8h6M2.5 12h4" />
      <path d="m11 8.6 3.2 2-3.2 2z" fill="currentColor" strokeLinejoin="round" />
    </>
  ),
  up: <path d="M8 13V3.5M4 7.3l4-4 4 4" />,
} as const satisfies Record<string, ReactElement>;

export type IconName = keyof typeof paths;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }): ReactElement {
  return (
    <svg
      className="ic"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden
    >
      {paths[name]}
    </svg>
  );
}

/** The app's own sign. */
export function BrandMark({ size = 20 }: { readonly size?: number }): ReactElement {
  return (
    <svg className="brand-mark" width={size} height={size} viewBox="0 0 20 20" aria-hidden>
      <rect width="20" height="20" rx="5.5" fill="var(--ink)" />
      <path
        d="M12.35 5.59A5 5 0 1 0 14.78 11.46"
        fill="none"
        stroke="var(--on-ink)"
        strokeWidth="1.8"
        strokeLinecap="round"
      />
      <circle cx="10" cy="10" r="2" fill="var(--on-ink)" />
      <circle cx="14.62" cy="8.09" r="1.25" fill="var(--badge)" />
    </svg>
  );
}
