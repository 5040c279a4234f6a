import { describe, expect, test } from 'vitest';
import { isOnDisplay, placeOn } from '../../../electron/window-place.ts';
import { placeInAddress } from '../../../electron/window-address.ts';
import { href, routeOf } from '../../../renderer/router.ts';
import type { Show } from '../../../src/contract/channels.ts';

const laptop = { x: 0, y: 25, width: 1440, height: 875 };
const beside = { x: 1440, y: 0, width: 1920, height: 1080 };

describe('where the window opens', () => {
  test('where it was, while a display is there', () => {
    const place = { x: 1_600, y: 100, width: 1_200, height: 800 };
    expect(placeOn(place, [laptop, beside])).toEqual(place);
  });

  test('off every display: the same size, and the system chooses the place', () => {
    const place = { x: 1_600, y: 100, width: 1_200, height: 800 };
    expect(placeOn(place, [laptop])).toEqual({ width: 1_200, height: 800 });
    for (const off of [
      { x: -5_000, y: 100 },
      { x: 100, y: 5_000 },
      { x: 100, y: -800 },
      // A corner of it is there, but not enough of its bar to take hold of.
      { x: 1_400, y: 100 },
      { x: 100, y: 890 },
    ])
      expect(placeOn({ ...place, ...off }, [laptop])).toEqual({ width: 1_200, height: 800 });
  });

  test('never larger than the display that is left, never below the least size', () => {
    const large = { x: 1_600, y: 0, width: 1_900, height: 1_060 };
    expect(placeOn(large, [laptop])).toEqual({ width: 1_440, height: 875 });
    expect(placeOn({ ...laptop, width: 10, height: 10 }, [])).toEqual({ width: 720, height: 520 });
    expect(placeOn({ x: 0, y: 0, width: 300, height: 200 }, [laptop])).toMatchObject({
      width: 720,
      height: 520,
    });
  });

  test('the first time: its own size, as far as there is room', () => {
    expect(placeOn(null, [laptop])).toEqual({ width: 1_080, height: 720 });
    expect(placeOn(null, [{ ...laptop, width: 1_024, height: 600 }])).toEqual({ width: 1_024, height: 600 });
  });

  test('half beside a display can still be moved', () => {
    expect(isOnDisplay({ x: -900, y: 100, width: 1_080, height: 720 }, [laptop])).toBe(true);
    expect(isOnDisplay({ x: -1_000, y: 100, width: 1_080, height: 720 }, [laptop])).toBe(false);
    expect(isOnDisplay({ x: 0, y: 0, width: 1_080, height: 720 }, [])).toBe(false);
  });
});

test('the shell names places as the window does', () => {
  const places: readonly Show[] = [
    { screen: 'home' },
    { screen: 'prompt', id: 'a/b #1' },
    { screen: 'turn', run_id: 'run ü' },
    { screen: 'settings' },
    { screen: 'enrol' },
  ];
  for (const place of places) expect(placeInAddress(place)).toBe(href(routeOf(place)));
});
