/** Numbers and times as the panel writes them. A missing value is a dash, never a zero. */
export const DASH = '–';

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const decimals = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 });
const money = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const smallMoney = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });

export const count = (value: number): string => whole.format(value);

export const decimal = (value: number | null): string => (value === null ? DASH : decimals.format(value));

/** In the currency of the configured prices, which the hub does not know. */
export const cost = (value: number): string =>
  value > 0 && value < 1 ? smallMoney.format(value) : money.format(value);

/** A share from 0 to 1; what is there is never shown as nothing, nor what is missing as all. */
export function percent(share: number): string {
  if (share > 0 && share < 0.001) return '<0.1 %';
  if (share < 1 && share > 0.999) return '>99.9 %';
  const value = share * 100;
  return `${Number.isInteger(value) ? value : value.toFixed(1)} %`;
}

/** Milliseconds; from ten seconds on in seconds. */
export function ms(value: number | null): string {
  if (value === null) return DASH;
  if (value >= 10_000) return `${(value / 1000).toFixed(1)} s`;
  if (value >= 100) return `${whole.format(value)} ms`;
  return `${value.toFixed(value >= 10 ? 1 : 2)} ms`;
}

/** Whole seconds as days, hours and minutes; seconds below an hour. */
export function duration(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  if (days > 0) return `${days} d ${hours} h ${minutes} min`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}

export const clock = (time: Date | string | number): string =>
  new Date(time).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hour12: false,
  });

export const dateTime = (time: string): string =>
  new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

export const plural = (number: number, one: string, many = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : many}`;
