import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { CloudOff, LogOut, Moon, Search, Sun } from 'lucide-react'
import { Fragment, lazy, Suspense, useEffect, useRef } from 'react'
import { Button } from '../design/button.tsx'
import mark from '../design/mark.svg'
import { toggleTheme, useTheme } from '../design/theme.ts'
import { showError } from '../design/toasts.tsx'
import { useIsServerAway } from '../live/connection.ts'
import { keepFresh } from '../live/refresh.ts'
import { openQuestionsQuery } from '../screens/questions/queries.ts'
import { type Session, sessionQuery, signOut } from '../session/session.ts'
import { SignIn } from '../session/sign-in.tsx'
import { focusScreen, keepFocus, useFocusOfScreen } from './focus.ts'
import { DESTINATIONS } from './navigation.ts'
import { usePaletteKey } from './palette-key.ts'

const loadPalette = () => import('./palette.tsx')
const Palette = lazy(loadPalette)

/** The frame of every screen: navigation, sign-in, what is live, and the state of the connection. */
export function Shell() {
  const session = useQuery(sessionQuery)
  if (session.data === undefined) return <p className="empty">{session.error === null ? 'Loading …' : 'Waiting for the server …'}</p>
  if (!session.data.signed_in) return <SignIn reason={session.data.reason} />
  return <SignedIn session={session.data} />
}

function SignedIn({ session }: { session: Session }) {
  const client = useQueryClient()
  const palette = usePaletteKey(loadPalette, showError)
  const isAway = useIsServerAway()
  const main = useRef<HTMLElement>(null)
  useFocusOfScreen(main)
  useEffect(() => keepFresh(client), [client])
  useEffect(() => (main.current === null ? undefined : keepFocus(main.current)), [])
  return (
    <div className="shell">
      <button type="button" className="button skip" onClick={() => focusScreen(main.current)}>
        Skip to content
      </button>
      <nav className="side" aria-label="Screens">
        <div className="side-head">
          <img src={mark} alt="" />
          Muster
        </div>
        <Destinations />
        <div className="side-foot">
          <Button kind="plain" label="Search and commands (Ctrl K)" onClick={palette.open}>
            <Search size={16} aria-hidden />
          </Button>
          <ThemeButton />
          {session.mode === 'keys' && <SignOutButton />}
        </div>
      </nav>
      <main className="main" id="main" ref={main} tabIndex={-1}>
        {isAway && (
          <div className="banner" role="status">
            <CloudOff size={16} aria-hidden />
            The server or its database does not answer. What you see may be old; what you typed is kept. Trying again …
          </div>
        )}
        <Suspense fallback={<p className="empty">Loading …</p>}>
          <Outlet />
        </Suspense>
      </main>
      {palette.isOpen && (
        <Suspense>
          <Palette takeTyped={palette.takeTyped} onClose={palette.close} />
        </Suspense>
      )}
    </div>
  )
}

function Destinations() {
  const { data: questions } = useQuery(openQuestionsQuery)
  return DESTINATIONS.map(({ to, label, icon: Icon, group }, index) => (
    <Fragment key={to}>
      {DESTINATIONS[index - 1]?.group !== group && index > 0 && <div className="side-group">{group}</div>}
      <Link to={to} activeOptions={{ exact: to === '/' }}>
        <Icon size={16} aria-hidden />
        {label}
        {to === '/questions' && questions !== undefined && questions.length > 0 && (
          <span className="badge" data-tone="amber">
            {questions.length}
            <span className="visually-hidden"> open</span>
          </span>
        )}
      </Link>
    </Fragment>
  ))
}

function ThemeButton() {
  const theme = useTheme()
  const Icon = theme === 'dark' ? Sun : Moon
  return (
    <Button kind="plain" label={theme === 'dark' ? 'Use light colours' : 'Use dark colours'} onClick={toggleTheme}>
      <Icon size={16} aria-hidden />
    </Button>
  )
}

function SignOutButton() {
  const client = useQueryClient()
  const leave = async () => {
    try {
      await signOut()
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' })
      await client.invalidateQueries(sessionQuery)
    } catch (error) {
      showError(error as Error)
    }
  }
  return (
    <Button kind="plain" label="Sign out" onClick={() => void leave()}>
      <LogOut size={16} aria-hidden />
    </Button>
  )
}
