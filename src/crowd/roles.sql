-- What a server with the database of a run should not let its volunteers do. As a superuser, in that
-- database; `leat coordinate --db local` does it with its own. It may be run again.

-- Who connects, and so works on runs, is whoever was invited; nobody but the owner creates anything.
do $$ begin
  execute format('revoke connect, create, temporary on database %I from public', current_database());
  revoke all on schema public from public;
end $$;

-- Large objects fill the disk, messages in the log of transactions, too, and advisory locks the table
-- that all locks of the server share. Runs need none of them.
do $$ declare f regprocedure; begin
  for f in select oid::regprocedure from pg_proc
           where pronamespace = 'pg_catalog'::regnamespace
             and (proname ~ '^(pg_(try_)?advisory_|lo_)'
                  or proname in ('loread', 'lowrite', 'pg_logical_emit_message'))
             and has_function_privilege('public', oid, 'execute') loop
    execute format('revoke execute on function %s from public', f);
  end loop;
end $$;

-- The coordinator ends sessions that block a run: with the owner's login.
do $$ begin
  execute format('grant pg_signal_backend to %I',
                 (select pg_get_userbyid(datdba) from pg_database where datname = current_database()));
end $$;
