import { render } from 'preact';
import '../../styles/base.css';
import '../../styles/parts.css';
import '../../styles/bar.css';
import '../../styles/docs.css';
import { applyTheme } from '../theme.ts';
import { DocsApp } from './docs-app.tsx';

applyTheme();
const place = document.getElementById('app');
if (place !== null) render(<DocsApp />, place);
