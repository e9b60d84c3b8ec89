// Generated from openapi.yaml by scripts/check/client-types.ts. Do not edit: `npm run check -- --fix` writes it again.
export interface paths {
    "/subtasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List subtasks
         * @description Newest first. A result and outputs longer than 2,000 characters are null; `shortened` has their beginning.
         */
        get: operations["listSubtasks"];
        put?: never;
        /**
         * Spawn a subtask
         * @description Stores the subtask and answers at once; an idle worker starts it within milliseconds. To get the result, send `wait_seconds`, poll `Location`, follow its events, or read the inbox of the parent session.
         */
        post: operations["createSubtask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the agents with work
         * @description Those with subtasks that run or are pending, by name, with their limits. A key of one agent sees that agent alone.
         */
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a subtask
         * @description With `wait_seconds`, answers when the subtask ends, at the latest when the time is over.
         */
        get: operations["getSubtask"];
        put?: never;
        post?: never;
        /**
         * Cancel a subtask
         * @description A pending subtask is cancelled at once. A running one is asked to stop; an event reports its end.
         */
        delete: operations["cancelSubtask"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow one subtask
         * @description Server-sent events of one subtask, from its first event or from the cursor. The stream closes after the event that ends the subtask. A reader that has read that event gets 204.
         */
        get: operations["streamSubtaskEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the transcript
         * @description The steps of the runner over all attempts, oldest first.
         */
        get: operations["listSubtaskSteps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/prompts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the prompts
         * @description What each attempt sent first to its model or program, without secrets of the operator, definitions of tools, and what a program adds itself. Empty for outside workers, whose prompt is the `brief` of the claim.
         */
        get: operations["listSubtaskPrompts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the updates of a subtask
         * @description Oldest first. Each has its receipt: queued, delivered, acknowledged, superseded or expired.
         */
        get: operations["listSubtaskUpdates"];
        put?: never;
        /**
         * Steer a subtask
         * @description Sends a note and answers with its receipt. A pending subtask receives it with its prompt, a running one before its next step. A note that is not delivered before the end becomes `expired`.
         */
        post: operations["steerSubtask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/payload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the last evaluated output
         * @description The complete result as it was evaluated. 404 if the subtask has not completed.
         */
        get: operations["getSubtaskPayload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/quality-flag": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Flag the quality of a subtask
         * @description Replaces the previous flag. `excellent` and `good` make the subtask an example for `GET /training/export`; `needs_work` and `bad` remove it. A sub-agent’s own credential may not call this.
         */
        post: operations["flagSubtaskQuality"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tasks
         * @description Newest first. `q` searches title, description and instructions, with the syntax of a web search: "a phrase", or, -not.
         */
        get: operations["listTasks"];
        put?: never;
        /**
         * Create a task
         * @description Stores a brief: instructions, criteria, required outputs and context. One answer lists every problem and warning. A task with open dependencies starts as `blocked`.
         */
        post: operations["createTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/validate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Validate a task without creating it
         * @description Takes the body of a creation, with the same checks. Stores nothing.
         */
        post: operations["validateTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a task
         * @description The whole brief and its state. The `ETag` header is the revision. A sub-agent’s own credential reads its own task only.
         */
        get: operations["getTask"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Revise a task
         * @description Changes the brief and sends the assignee an update. Items of `acceptance_criteria` are texts or `{id, text}`: a criterion keeps its id if the id is sent or the text is unchanged. A request that changes nothing creates no revision.
         */
        patch: operations["reviseTask"];
        trace?: never;
    };
    "/tasks/{id}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the revisions of a task
         * @description Newest first. Each has its author, its time and what changed.
         */
        get: operations["listTaskRevisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/updates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the updates of a task
         * @description Oldest first. Each has its receipt: queued, delivered, acknowledged, superseded or expired.
         */
        get: operations["listTaskUpdates"];
        put?: never;
        /**
         * Send a note to the holder of a task
         * @description The brief does not change. If the task has no assignee, the first assignee receives the note.
         */
        post: operations["noteTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/updates/{update_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Confirm an update
         * @description The update exactly as it was sent, and its sender, for an agent that verifies what it received. 404: it did not come from this server, or belongs to work that the credential cannot read.
         */
        get: operations["confirmUpdate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/assign": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Assign a task to a session
         * @description The next injection of the session delivers the brief. Another session that held the task receives nothing more of it. For the session that holds it already, only the credential is new. The credential opens this task only, until the task ends.
         */
        post: operations["assignTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/dispatch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a task as a subtask
         * @description A worker runs the brief as a subtask. Changes reach the run between two steps. Its outputs complete the task; a failed run returns it to `pending` with `last_error`. With `max_revisions`, a result evaluated as `request_revision` starts another subtask of the chain, with the points to revise; the inbox reports only the last. A session that held the task receives nothing more of it.
         */
        post: operations["dispatchTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/check-ins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the check-ins of a task
         * @description Newest first: what assignees have reported, and on the criteria of which revision.
         */
        get: operations["listTaskCheckIns"];
        put?: never;
        /**
         * Report on a task
         * @description Reads the check-in blocks of a text: which criteria are met, what comes next, and which revision the assignee works from. Updates up to it become `acknowledged`. The first check-in moves an assigned task to `in_progress`. The assignee’s own credential may call this.
         */
        post: operations["checkIn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a task
         * @description Submits the outputs. Every required output must be present and match its schema; otherwise nothing changes. The task becomes `completed`, or `in_review` if the brief asks for a review. The assignee’s own credential may call this.
         */
        post: operations["completeTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the executed checks of a task
         * @description Newest first. Each has its exit code and the last part of its output.
         */
        get: operations["listTaskChecks"];
        put?: never;
        /**
         * Execute the checks of a task
         * @description A worker executes the checks that the criteria name, in the folder of the task. If the task is in review and a check ends otherwise than before, the submission is evaluated again, and `review: auto` decides by that. The end of each is the event `check.completed` of the task.
         */
        post: operations["requestTaskChecks"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/review": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Review submitted outputs
         * @description For a task in review. `approve` completes it if its outputs match the current brief. `request_revision` sends the assignee the points to revise. The decision is stored as an evaluation.
         */
        post: operations["reviewTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fail a task
         * @description Ends an open task and stops the subtask that runs it. Tasks that depend on it stay blocked.
         */
        post: operations["failTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Cancel a task
         * @description Ends an open task and stops the subtask that runs it. Tasks that depend on it stay blocked.
         */
        post: operations["cancelTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/tsgs/{tsg_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Link a troubleshooting guide
         * @description Adds a guide to the brief and sends the assignee an update.
         */
        put: operations["linkTsg"];
        post?: never;
        /**
         * Unlink a troubleshooting guide
         * @description Removes a guide from the brief and sends the assignee an update.
         */
        delete: operations["unlinkTsg"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Render the context of a task
         * @description The prompt section that describes the task’s context. Empty if the task has no context.
         */
        get: operations["getTaskContext"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/payload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the last evaluated output
         * @description The complete output of the task’s latest evaluation: submitted outputs, the result of a subtask, a message, or a text sent for evaluation. 404 if there is none yet.
         */
        get: operations["getTaskPayload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/quality-flag": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Flag the quality of a task
         * @description Replaces the previous flag, also that of the assistant’s messages about the task. `excellent` and `good` make the task an example for `GET /training/export`; `needs_work` and `bad` remove it. A sub-agent’s own credential may not call this.
         */
        post: operations["flagTaskQuality"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Count tasks
         * @description The number of tasks in the project, in total and per state.
         */
        get: operations["getStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask from a running subtask
         * @description Puts the question into the inbox of the parent session. The run goes on and receives the answer as an update, or waits with `GET /questions/{id}?wait_seconds=60`. Needs the subtask’s own credential, the lease token, or the scope `subtasks:write`.
         */
        post: operations["askAboutSubtask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tasks/{id}/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask about a task
         * @description Puts the question into the inbox of the parent session. The assignee receives the answer as an update. The assignee’s own credential may call this.
         */
        post: operations["askAboutTask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/questions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List questions
         * @description Newest first. A sub-agent’s own credential sees what its session asked.
         */
        get: operations["listQuestions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/questions/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a question
         * @description With `wait_seconds`, answers when the question is no longer open, at the latest when the time is over.
         */
        get: operations["getQuestion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/questions/{id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer a question
         * @description The first answer counts; another one is a `conflict` that names who answered. The run or assignee receives the answer once, as an update.
         */
        post: operations["answerQuestion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/questions/{id}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Withdraw a question
         * @description No answer is needed any more. The session that asked may call this with its own credential.
         */
        post: operations["withdrawQuestion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List schedules
         * @description Newest first. Only active schedules, unless `active` says otherwise.
         */
        get: operations["listSchedules"];
        put?: never;
        /**
         * Schedule work
         * @description Stores a rule that creates a subtask each time it is due. Send exactly one of `when`, `every` and `cron`. `reading` and `upcoming` show how it was understood. An ambiguous phrase is refused with `candidates`.
         */
        post: operations["createSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview a schedule without creating it
         * @description Takes the body of a creation, and shows the reading and the next times. Stores nothing.
         */
        post: operations["previewSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a schedule
         * @description Also its reading and its next times.
         */
        get: operations["getSchedule"];
        put?: never;
        post?: never;
        /**
         * Deactivate a schedule
         * @description The schedule never fires again and can still be read. Started runs continue.
         */
        delete: operations["deactivateSchedule"];
        options?: never;
        head?: never;
        /**
         * Change a schedule
         * @description Fields that are not sent stay. A new phrase or `timezone` is read again as of now; later slots follow the new rule.
         */
        patch: operations["reviseSchedule"];
        trace?: never;
    };
    "/schedules/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Pause a schedule
         * @description From now on its slots pass, with the outcome recorded. Started runs continue.
         */
        post: operations["pauseSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resume a paused schedule
         * @description It fires again from its next slot.
         */
        post: operations["resumeSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a schedule now
         * @description Starts a run now, also while the schedule is paused or an earlier run is active. It is marked `manual` and is no firing.
         */
        post: operations["triggerSchedule"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runs of a schedule
         * @description Newest first: each past slot, with its outcome, and each triggered run.
         */
        get: operations["listScheduleRuns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/schedules/{id}/firings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the next firings of a schedule
         * @description The times at which it fires next, as it is now. None if it is not active.
         */
        get: operations["listScheduleFirings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subagents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sub-agents
         * @description Sorted by name, without instructions: definitions that were put, those in SUBAGENTS_DIRS, and built-in ones.
         */
        get: operations["listSubagents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subagents/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a sub-agent
         * @description The current definition, the runner of its runs, and the tools that this runner lacks. With `Accept: text/markdown`, the answer is what `PUT` accepts.
         */
        get: operations["getSubagent"];
        /**
         * Define a sub-agent
         * @description Creates or replaces a definition, for runs that start from now on. It takes precedence over a file or a built-in definition of this name.
         */
        put: operations["putSubagent"];
        post?: never;
        /**
         * Delete a definition
         * @description Deletes the definition that was put under this name; a file or a built-in definition becomes current again. Active runs continue.
         */
        delete: operations["deleteSubagent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subagents/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import a collection of sub-agents
         * @description Takes a zip, a tar (also gzipped) or a multipart form of Markdown files, including folders. Each definition is stored under its `name`, otherwise its file name. An unusable file does not stop the others.
         */
        post: operations["importSubagents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subagents/{name}/spawn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Spawn a sub-agent
         * @description Starts a sub-agent as a subtask, in the current version of its definition, and waits up to `wait_seconds` for its end.
         */
        post: operations["spawnSubagent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subagents/{name}/tool-check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Ask whether a sub-agent may use a tool
         * @description Checks the tool against the current definition and gives the reason.
         */
        post: operations["checkSubagentTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tsgs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List or search guides
         * @description Newest first, without contents.
         */
        get: operations["listTsgs"];
        put?: never;
        /**
         * Create a guide
         * @description From now on the guide is announced wherever one of its patterns matches. Without an id, the id is made from the title, with a number if the id is taken.
         */
        post: operations["createTsg"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tsgs/scan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Find guides for an error
         * @description Best first: by severity, longest matching pattern and success rate. Of a text longer than 32,768 characters, the first and last 16,384 are scanned. Found guides count as announced; with `session_id`, the next injection of that session announces them.
         */
        post: operations["scanTsgs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tsgs/{tsg_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a guide
         * @description With `Accept: text/markdown`, the answer is what `PUT` accepts.
         */
        get: operations["getTsg"];
        /**
         * Import a guide
         * @description Creates or replaces a guide, as Markdown with front matter. Fields that the front matter omits get their defaults.
         */
        put: operations["putTsg"];
        post?: never;
        /**
         * Delete a guide
         * @description Refused while tasks link the guide, unless `force` is set. Its usage figures are kept for a later guide with the same id.
         */
        delete: operations["deleteTsg"];
        options?: never;
        head?: never;
        /**
         * Change a guide
         * @description Fields that are not sent stay. A list replaces the stored list.
         */
        patch: operations["updateTsg"];
        trace?: never;
    };
    "/tsgs/{tsg_id}/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Record whether a guide helped
         * @description A sub-agent’s own credential may call this.
         */
        post: operations["recordTsgFeedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/tsgs/{tsg_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the usage of a guide
         * @description How often the guide was announced, read and helpful.
         */
        get: operations["getTsgUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/evaluations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List evaluations
         * @description Newest first, without warnings, reflection and verdicts.
         */
        get: operations["listEvaluations"];
        put?: never;
        /**
         * Evaluate a text
         * @description Evaluates a text by its reflection and check-in blocks and by criteria, and stores both; the complete text is at `GET /evaluations/{id}/payload`. Results, completions and messages with blocks are evaluated without being asked. A sub-agent’s own credential may not call this.
         */
        post: operations["createEvaluation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/evaluations/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Compare scores
         * @description Scores of outputs by day, sub-agent or criterion. Each output counts once, by its latest evaluation. Limits: 366 days, the newest 50,000 outputs, 400 groups. With `by=agreement`: how far verdicts agree with reviews and quality flags of people.
         */
        get: operations["getEvaluationStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/evaluations/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an evaluation
         * @description An evaluation never changes. The verdicts of a judge are another one, named by `judge`.
         */
        get: operations["getEvaluation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/evaluations/{id}/payload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the evaluated output
         * @description The complete output, whatever the recommendation is.
         */
        get: operations["getEvaluationPayload"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/training/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export training examples
         * @description Streams one JSON object per line: flagged training examples, or everything with the given `quality`. A subtask gives its instructions and result. A task gives its messages, the last 1,000 and at most 16 MiB, with the brief where no user message is; without assistant messages, the last evaluated output. A failed export breaks off without the end of the response.
         */
        get: operations["exportTraining"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read tokens, cost and time
         * @description What ended subtasks and judgements have used. A subtask counts whole, with all its attempts, in the moment of its end. Limits: 366 days, 400 groups.
         */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memory/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search memory
         * @description Finds items with every word of `q`; if there are none, with some of them. Facts are found at once, subtasks about one second after their end. A subtask’s own credential searches the whole project.
         */
        get: operations["searchMemory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memory/facts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Store a fact
         * @description Every search of the project finds the fact from now on. A subtask’s own credential may call this.
         */
        post: operations["learnFact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memory/facts/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a fact
         * @description The complete fact and its source.
         */
        get: operations["getFact"];
        put?: never;
        post?: never;
        /**
         * Delete a fact
         * @description Deleting an unknown fact gives the same answer. A subtask’s own credential may not call this.
         */
        delete: operations["deleteFact"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/memory/episodes/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an episode
         * @description The instructions and the result of an ended subtask. The id is that of the subtask.
         */
        get: operations["getEpisode"];
        put?: never;
        post?: never;
        /**
         * Forget an episode
         * @description Searches never find the episode again. The subtask stays. A subtask’s own credential may not call this.
         */
        delete: operations["forgetEpisode"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim the next subtask
         * @description Claims the next waiting subtask of a runner under a lease. Renew it with heartbeats; end it with complete, fail, release or wait. With `wait_seconds`, the call waits for work.
         */
        post: operations["claimSubtask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Renew a lease
         * @description Renews the lease, reports steps and usage, and returns updates and a cancel request. Send it well before `expires_at`.
         */
        post: operations["heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Complete a subtask
         * @description Ends the attempt with a result. One that is empty, only announces or acknowledges the work, or lacks required outputs is rejected: the subtask returns to pending with the reason as `feedback`, or fails. One that only asks a question ends as `incomplete_blocked` with the question as `error`. Valid required outputs always count as a result.
         */
        post: operations["completeSubtask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Fail an attempt
         * @description A retryable failure returns the subtask to pending until `max_attempts` is reached. Any other failure ends the subtask.
         */
        post: operations["failSubtask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Release a lease
         * @description Returns the subtask to pending without counting a failure. Use it at shutdown.
         */
        post: operations["releaseSubtask"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/subtasks/{id}/wait": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Wait for an answer
         * @description Ends the attempt until the question is closed. A `waiting` subtask uses none of the limits of its agent, and its timeout does not run. Then it is pending again, before newer work of its agent, with the answer in the brief.
         */
        post: operations["waitForAnswer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/injections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Get new context for a session
         * @description Call it before each model request and put `text` in front of the request. It delivers, each once: assigned briefs, their changes, guides for recent failures, and results of subtasks. To survive a lost answer, send an `Idempotency-Key`, or use `ack=manual`: all items come again after 60 s unless acknowledged; new ones wait until then.
         */
        post: operations["injectSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/injections/{claim_id}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge an injection
         * @description Ends an injection that was made with `ack=manual`: its items are not delivered again. A late acknowledgement counts until they are.
         */
        post: operations["acknowledgeInjection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the messages of a session
         * @description Newest first, each with its evaluation. Contents longer than 64 KiB are left out.
         */
        get: operations["listMessages"];
        put?: never;
        /**
         * Store a message of a session
         * @description Call it after each model response. The next injection of the session announces guides for failures in the message. With the `task_id` of a task that the session holds, and the scope `tasks:write`, check-in blocks of an assistant message count like `POST /tasks/{id}/check-ins`. A message with reflection or check-in blocks is evaluated by the criteria that were delivered to the session.
         */
        post: operations["postMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/inbox/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Claim waiting results
         * @description Delivers the waiting items of a session, each once: ends of its subtasks, and questions, ends and reviews of work whose parent session it is. To survive a lost answer, send an `Idempotency-Key`, or use `ack: manual`: the items come again after 60 s unless the claim is acknowledged.
         */
        post: operations["claimInbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{id}/inbox/claim/{claim_id}/ack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Acknowledge an inbox claim
         * @description Ends a claim that was made with `ack: manual`: its items are not delivered again.
         */
        post: operations["acknowledgeInbox"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hooks/claude-code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Receive a Claude Code hook event
         * @description The HTTP hook of Claude Code. The session is `<session_id>`, or `<session_id>:<agent_id>` inside a sub-agent; the credential of a subtask or of an assigned task always means its own session. Answers with undelivered items of the session as `additionalContext`, the brief of a task that `muster-task: <task_id>` in the prompt of the Agent tool names, the session as the argument `_session` of Muster tools, a denial of tools that the definition does not permit, or one more turn. Stop and SubagentStop store `last_assistant_message`, and complete tasks that it hands in. Every other event, an error, or 500 ms without an answer returns an empty 200. An `Idempotency-Key` has no effect.
         */
        post: operations["claudeCodeHook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Follow the events of the project
         * @description Server-sent events: `id` is the position in the log, `event` the type, `data` an Event as JSON. Without a cursor the stream starts now, with an `id` as its first line. A reader that reconnects with `Last-Event-ID` misses no event. One that falls too far behind is disconnected.
         */
        get: operations["streamEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks
         * @description Newest first, without their secrets.
         */
        get: operations["listWebhooks"];
        put?: never;
        /**
         * Create a webhook
         * @description Events from now on are sent to the URL, signed by [Standard Webhooks](https://www.standardwebhooks.com). A delivery that is not answered with 2xx is repeated for up to 72 hours, with the same `webhook-id`. Only this answer shows the secret.
         */
        post: operations["createWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook
         * @description Without its secret.
         */
        get: operations["getWebhook"];
        put?: never;
        post?: never;
        /**
         * Delete a webhook
         * @description Nothing more is sent to it, and what waits is given up. Its deliveries stay in `GET /deliveries`.
         */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        /**
         * Change, disable or enable a webhook
         * @description Only what is given changes. Deliveries that wait go to a new URL; other fields apply from the next event.
         */
        patch: operations["updateWebhook"];
        trace?: never;
    };
    "/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of a webhook
         * @description Only this answer shows the new secret. During the overlap, each delivery has two signatures.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test
         * @description Sends a delivery of the type `webhook.test`. `Location` shows what the receiver answered.
         */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook
         * @description Newest first: what was sent when, and what the receiver answered.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a delivery of a webhook
         * @description The same as `GET /deliveries/{id}`, for a delivery of this webhook.
         */
        get: operations["getWebhookDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/{id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery of a webhook again
         * @description The same as `POST /deliveries/{id}/redeliver`, for a delivery of this webhook.
         */
        post: operations["redeliverToWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries
         * @description Newest first: what was sent to webhooks, callbacks and channels of the project, also removed ones, and what they answered.
         */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deliveries/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a delivery
         * @description With its body, as it was sent.
         */
        get: operations["getDelivery"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/deliveries/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a delivery again
         * @description Sends the same bytes with the same `webhook-id`, also after it was delivered or given up. Its attempts begin anew; quiet hours hold.
         */
        post: operations["redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/runners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the runners
         * @description The runners of this server, and what unavailable runners lack.
         */
        get: operations["listRunners"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the workers
         * @description The worker processes of this installation, the latest first. One that died stays for a day as `lost`. Outside workers are not listed. Workers serve all projects, so the key has to be one of the default project.
         */
        get: operations["listWorkers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/workers/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Drain a worker
         * @description Asks a worker to take no more work, which it obeys within half a second: it finishes or releases its runs and then shows `drained` in `GET /workers`. It never takes work again, and stays until it is stopped. `release` after `finish` releases what still runs. The key has to be one of the default project.
         */
        post: operations["drainWorker"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List who wrote what
         * @description The writes of this project, the latest first: by whom, from where, which operation, on what, and the names of the fields that were set, never their values. The traffic of workers and sessions is not in it.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export the audit log
         * @description Streams one entry per line, the oldest first. A failed export breaks off without the end of the response.
         */
        get: operations["exportAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the project
         * @description The project of the credential, with its settings.
         */
        get: operations["getProject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the project
         * @description Changes the name or the settings. New limits apply from the next subtask.
         */
        patch: operations["updateProject"];
        trace?: never;
    };
    "/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys
         * @description Newest first, including revoked and expired keys.
         */
        get: operations["listApiKeys"];
        put?: never;
        /**
         * Create an API key
         * @description Only this answer shows the key: its hash is stored.
         */
        post: operations["createApiKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key
         * @description The key stops working at once; its open event streams end within one second.
         */
        delete: operations["revokeApiKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the process is alive
         * @description Answers while the process runs, whatever the state of the database. Needs no key.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check that the process can serve requests
         * @description Ready if the process has started, and the database is reachable, migrated and accepts writes. What taking the process out of service would not help is `degraded`, such as a relay that lags. Needs no key.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description Metrics of this process only. Needs a key of any scope, unless the server listens on loopback.
         */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Agent: {
            agent_id: string;
            /** Format: int64 */
            running: number;
            /**
             * Format: int64
             * @description Of those without a permit, at most 1,000 are counted.
             */
            pending: number;
            /**
             * Format: int64
             * @description Subtasks that may run at once, if the limit of the project allows it.
             */
            running_max: number;
            /**
             * Format: int64
             * @description Subtasks that may be pending, likewise.
             */
            pending_max: number;
        };
        AgentBudget: {
            /** @description For each day, in UTC */
            day?: components["schemas"]["BudgetAmounts"];
            /** @description For all time */
            total?: components["schemas"]["BudgetAmounts"];
        };
        AgentLimits: {
            pending?: number;
            running?: number;
            budget?: components["schemas"]["AgentBudget"];
        };
        AgentList: {
            items: components["schemas"]["Agent"][];
            next_cursor: string | null;
        };
        AgreementCase: {
            /**
             * Format: uuid
             * @description The latest evaluation by rule, checks or judge.
             */
            evaluation_id: string;
            /** Format: uuid */
            task_id: string | null;
            /** Format: uuid */
            subtask_id: string | null;
            subagent: string | null;
            /** @description Null: the whole output. */
            criterion: components["schemas"]["AgreementCriterion"] | null;
            /** @description The verdict on the criterion; null for the whole output, where the recommendation counts. */
            verdict: components["schemas"]["VerdictValue"] | null;
            method: components["schemas"]["VerdictMethod"] | null;
            score: number | null;
            recommendation: components["schemas"]["Recommendation"];
            said: components["schemas"]["PersonWord"];
            /** @description 1 for met against unmet. For outputs, the distance of the score from what was said. */
            difference: number;
            links: components["schemas"]["AgreementLinks"];
        };
        AgreementCriterion: {
            id: string;
            text: string;
        };
        AgreementGroup: {
            /** @description The sub-agent (null: none), the criterion, or the method. */
            key: string | null;
            /**
             * Format: int64
             * @description The number of outputs of which people have spoken.
             */
            outputs: number;
            /**
             * Format: int64
             * @description The number of pairs in which both verdict and person say met or not.
             */
            n: number;
            /** @description The part of the pairs in which they say the same; null without pairs. */
            observed_agreement: number | null;
            /** @description Cohen's kappa of the pairs: 1 for full agreement, 0 for that of chance. Null where it says nothing. */
            kappa: number | null;
            /** @description Why there is no kappa. too_few: n is below 10. one_category: the verdicts, or the people, say the same of all pairs. */
            reason: components["schemas"]["NoKappaReason"] | null;
            pairs: components["schemas"]["AgreementPairs"];
            /**
             * Format: int64
             * @description Pairs that do not count, because one side does not decide: `review`, `unclear` or `not_addressed`.
             */
            undecided: number;
            /**
             * Format: int64
             * @description How many of n are about a criterion that a review names; in the others the word about the whole output counts.
             */
            named: number;
        };
        /** @description Paths to read more. */
        AgreementLinks: {
            evaluation: string;
            output: string;
            task: string | null;
            subtask: string | null;
        };
        /** @description How often the verdict and the person say met. For outputs: approve, and accepted. */
        AgreementPairs: {
            /** Format: int64 */
            both_met: number;
            /** Format: int64 */
            only_verdict_met: number;
            /** Format: int64 */
            only_person_met: number;
            /** Format: int64 */
            both_unmet: number;
        };
        /** @description Other fields as in `AgreementGroup`. */
        AgreementStats: {
            /**
             * Format: date-time
             * @description Outputs that were first evaluated from then on
             */
            since: string;
            /**
             * Format: date-time
             * @description and before then.
             */
            until: string;
            /**
             * Format: date-time
             * @deprecated
             * @description Use `since`.
             */
            from: string;
            /**
             * Format: date-time
             * @deprecated
             * @description Use `until`.
             */
            to: string;
            /** @constant */
            by: "agreement";
            /** Format: int64 */
            outputs: number;
            /** Format: int64 */
            n: number;
            observed_agreement: number | null;
            kappa: number | null;
            reason: components["schemas"]["NoKappaReason"] | null;
            pairs: components["schemas"]["AgreementPairs"];
            /** Format: int64 */
            undecided: number;
            /** Format: int64 */
            named: number;
            /** @description Outputs by the sub-agent of the run, most first. At most 400. */
            by_subagent: components["schemas"]["AgreementGroup"][];
            /** @description The latest verdicts on criteria, by their text, most outputs first. At most 400. */
            by_criterion: components["schemas"]["AgreementGroup"][];
            /** @description Verdicts on criteria by how they were come to, including verdicts that another one replaced. */
            by_method: components["schemas"]["AgreementGroup"][];
            /** @description The 20 cases in which verdict and person differ most. */
            cases: components["schemas"]["AgreementCase"][];
            /** @description True if people have spoken of more than the newest 5,000 outputs that were counted. */
            is_cut: boolean;
        };
        Answer: {
            option_id?: string;
            answer?: unknown;
            decision?: components["schemas"]["ApprovalDecision"];
            edited_arguments?: {
                [key: string]: unknown;
            };
            always?: boolean;
            /** @description Of the arguments that were approved. An approval permits nothing else. */
            arguments_digest?: string;
        };
        /** @description `AgreementStats` for `by=agreement`, otherwise `EvaluationStats`. */
        AnyEvaluationStats: components["schemas"]["EvaluationStats"] | components["schemas"]["AgreementStats"];
        ApiKey: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description The project that it opens.
             */
            project_id: string;
            name: string;
            /** @description The first characters, to identify the key. */
            key_prefix: string;
            scopes: components["schemas"]["Scope"][];
            /** @description The agent that the key is bound to, if any. */
            agent_id: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it stops working.
             */
            expires_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
        };
        ApiKeyList: {
            items: components["schemas"]["ApiKey"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        ApprovalDecision: "approve" | "reject";
        AssignedTask: {
            task: components["schemas"]["Task"];
            /** @description Opens this task only, and cannot start work. Shown once; null when the answer is repeated. */
            subagent_credential: string | null;
        };
        /**
         * @example {
         *       "subagent_session_id": "writer-1"
         *     }
         */
        AssignmentRequest: {
            /**
             * @description The session that is to do it.
             * @example writer-1
             */
            subagent_session_id: string;
            /** @description Deliver the whole brief again to the session that already holds the task. Default: false. */
            resend?: boolean | null;
        };
        /**
         * @description `http` for REST, `mcp` for a tool, `script` for a command on the machine, `telegram` for a person in the chat of the project.
         * @enum {string}
         */
        AuditDoor: "http" | "mcp" | "script" | "telegram";
        AuditEntry: {
            /**
             * Format: int64
             * @description Its place in the log, in the order of the writes, with gaps.
             */
            seq: number;
            /** Format: date-time */
            at: string;
            /** @description Who wrote: `key`, `open`, `subtask`, `session` or `system`. `GET /api-keys` has the names of keys; `name` is the session that an open caller named. */
            actor: components["schemas"]["Reference"];
            door: components["schemas"]["AuditDoor"];
            /** @description Address of the caller, as the server saw it; null for a command. */
            address: string | null;
            /** @description The `operationId`, the name of the tool, or the command. */
            operation: string;
            /** @description The `X-Request-Id` of the answer, also in the logs. */
            request_id: string | null;
            /** @description What the request names, and what it has made. */
            ids: {
                [key: string]: string;
            };
            /** @description Names of the fields that the request sets; never their values. */
            fields: string[];
        };
        AuditList: {
            items: components["schemas"]["AuditEntry"][];
            next_cursor: string | null;
        };
        /**
         * @description Background sub-agents with MCP tools: reject refuses to start them, strip starts them without the tools. Default: BACKGROUND_MCP of the server
         * @enum {string}
         */
        BackgroundMcpPolicy: "reject" | "strip";
        Brief: {
            /** @description The complete prompt as one text for the agent. */
            text: string;
            task: string;
            criteria: components["schemas"]["BriefCriterion"][];
            required_outputs: components["schemas"]["RequiredOutput"][];
            /** Format: int64 */
            revision: number | null;
            /** @description Why the last result was rejected. */
            feedback: string | null;
            subagent: components["schemas"]["BriefSubagent"] | null;
            /** @description In an attempt that goes on after a wait. */
            continuation: components["schemas"]["BriefContinuation"] | null;
        };
        BriefContinuation: {
            /** @description What the last attempt left with `POST /subtasks/{id}/wait`. */
            state: string;
            /** @description What has reached the subtask since: the answer, and other updates. Part of `text` as well. */
            updates: string;
        };
        BriefCriterion: {
            id: string;
            text: string;
        };
        /** @description For each changed field, its sentences, lines or items in order. */
        BriefDiff: {
            [key: string]: components["schemas"]["DiffPart"][];
        };
        /** @description The sub-agent of the run, whose tools the worker must enforce. */
        BriefSubagent: {
            name: string;
            /** Format: int64 */
            version: number;
            /** @description Already part of `text`. */
            instructions: string;
            /** @description Allowed tools; `*` allows every tool. */
            tools: string[];
            disallowed_tools: string[];
            /**
             * Format: int64
             * @description The maximum number of model requests.
             */
            max_turns: number | null;
        };
        /** @description A suggestion that does not block the request. */
        BriefWarning: {
            field: string;
            message: string;
            timestamp: string;
        };
        BrokenSubagent: {
            name: string;
            errors: components["schemas"]["SubagentProblem"][];
        };
        /** @description The limit for all attempts together. Null means no limit. */
        Budget: {
            /**
             * Format: int64
             * @description Model responses; for programs and outside workers, the steps that they report.
             */
            max_steps: number;
            /** Format: int64 */
            max_tokens: number | null;
            max_cost_usd: number | null;
        };
        BudgetAmounts: {
            cost_usd?: number;
            /**
             * Format: int64
             * @description Read and written
             */
            tokens?: number;
        };
        /** @description A webhook for this one only, which gets the event of its end, such as `subtask.completed`. */
        Callback: {
            /**
             * Format: uri
             * @description As of a webhook.
             * @example https://example.com/muster
             */
            url: string;
            /** @description Signs the request by Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. Without it, the request is not signed. */
            secret?: string | null;
        };
        /**
         * @example <npl-block type="check-in" task-id="0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31" revision="2">
         *     acceptance_criteria:
         *       - ✅ Every exported function is listed (0198c9b1-4c01-7000-8000-000000000001)
         *     status: in_progress
         *     next_steps:
         *       - Describe the parser
         *     </npl-block>
         */
        CheckInText: string;
        CheckRun: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @description The same for all checks of one request, or of one submission.
             */
            batch_id: string;
            /** Format: uuid */
            task_id: string;
            /**
             * Format: uuid
             * @description The run whose result is checked.
             */
            subtask_id: string | null;
            /**
             * Format: uuid
             * @description The evaluation to which the verdicts are added. Null if nothing was submitted.
             */
            evaluation_id: string | null;
            criterion_id: string;
            /** @description Its name in `CHECKS`. */
            check: string;
            /** @description met: exit code 0. could_not_run: nothing was proved, and the criterion is unclear. */
            status: components["schemas"]["CheckStatus"];
            /** Format: int64 */
            exit_code: number | null;
            /** @description Why it is not met. */
            reason: string | null;
            /** @description The last 8 KiB of what it printed. */
            output: string | null;
            /** Format: int64 */
            duration_ms: number | null;
            /**
             * Format: int64
             * @description How often it was started: a second time if its worker was lost.
             */
            tries: number;
            /** Format: uuid */
            worker_id: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was started last.
             */
            started_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
        };
        CheckRunList: {
            items: components["schemas"]["CheckRun"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        CheckStatus: "pending" | "running" | "met" | "unmet" | "could_not_run";
        CheckedIn: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @deprecated
             * @description Use `id`.
             */
            check_in_id: string;
            /**
             * Format: int64
             * @description The revision that the check-in refers to. The current one where it names none or one that there is not.
             */
            revision: number;
            criteria: components["schemas"]["CheckedInCriterion"][];
            /** @description Lines that match no criterion, or more than one. */
            unmatched: string[];
            next_steps: string[];
            /** @description Updates that the check-in acknowledges, by the revision that it names. */
            acknowledged_update_ids: string[];
        };
        CheckedInCriterion: {
            /** Format: uuid */
            id: string;
            text: string;
            state: components["schemas"]["CriterionState"];
            note: string;
        };
        /**
         * @example {
         *       "worker_id": "worker-7",
         *       "lease_seconds": 60,
         *       "wait_seconds": 30
         *     }
         */
        ClaimRequest: {
            /** @description The runner whose queue to claim from. Default: external. */
            runner?: string | null;
            /**
             * @description Name of the worker, shown as `worker_id` of the subtask.
             * @example worker-7
             */
            worker_id: string;
            /** @description Seconds that the lease lasts without a heartbeat. Default: 60. */
            lease_seconds?: number | null;
            /** @description Seconds to wait for work. Default: 0. */
            wait_seconds?: number | null;
        };
        ClaimedInbox: {
            /**
             * Format: uuid
             * @description The id to acknowledge; null if there is nothing to acknowledge.
             */
            claim_id: string | null;
            /** @description Oldest first, each delivered exactly once. At most 2 MiB of text, or one larger item. */
            items: components["schemas"]["InboxItem"][];
            /** @description Whether more items are waiting. If true, claim again. */
            has_more: boolean;
        };
        ClaimedSubtask: {
            subtask: components["schemas"]["Subtask"];
            session_id: string;
            /** @description Opens this subtask only, and cannot start work. */
            credential: string;
            /** @description The span that asked for the subtask (W3C Trace Context). Null without a trace. */
            traceparent: string | null;
            lease: components["schemas"]["Lease"];
            brief: components["schemas"]["Brief"];
        };
        /** @description `HookJSONOutput` of `@anthropic-ai/claude-agent-sdk`. */
        ClaudeCodeHookAnswer: {
            hookSpecificOutput?: components["schemas"]["ClaudeCodeHookOutput"];
            /**
             * @description With Stop and SubagentStop: the agent goes on for one more turn.
             * @constant
             */
            decision?: "block";
            /** @description What is new, for that turn. */
            reason?: string;
        };
        /**
         * @description `HookInput` of `@anthropic-ai/claude-agent-sdk`. Other fields are ignored.
         * @example {
         *       "session_id": "0b4c4a1e-7d2f-4f6e-9a53-1d6b1f1f7a11",
         *       "transcript_path": "/home/me/.claude/projects/app/0b4c4a1e.jsonl",
         *       "cwd": "/home/me/app",
         *       "hook_event_name": "PreToolUse",
         *       "tool_name": "Agent",
         *       "tool_input": {
         *         "subagent_type": "general-purpose",
         *         "description": "Document the functions",
         *         "prompt": "Do what your brief says.\nmuster-task: 0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31"
         *       },
         *       "tool_use_id": "toolu_01A"
         *     }
         */
        ClaudeCodeHookInput: {
            /** @description What has happened. */
            hook_event_name: string;
            /**
             * @description Claude Code’s own session.
             * @example 0b4c4a1e-7d2f-4f6e-9a53-1d6b1f1f7a11
             */
            session_id: string;
            /**
             * @description The sub-agent inside of it that this is about.
             * @example a1b2c3d
             */
            agent_id?: string | null;
            /** @description What kind of sub-agent that is. */
            agent_type?: string | null;
            tool_name?: string | null;
            tool_input?: unknown;
            /** @description Names one use of a tool in all events about it. */
            tool_use_id?: string | null;
            /** @description What the tool answered. */
            tool_response?: unknown;
            /** @description The folder of the session. */
            cwd?: string | null;
            /** @description Why a tool failed. */
            error?: string | null;
            last_assistant_message?: string | null;
            /** @description Whether an earlier Stop made the agent go on. */
            stop_hook_active?: boolean | null;
        } & {
            [key: string]: unknown;
        };
        ClaudeCodeHookOutput: {
            hookEventName: string;
            /** @description What is new, for the model to read. */
            additionalContext?: string;
            /** @description The input of the Agent tool, with the brief at the end of its prompt. */
            updatedInput?: {
                [key: string]: unknown;
            };
            /** @constant */
            permissionDecision?: "deny";
            permissionDecisionReason?: string;
        };
        CleanBrief: {
            title: string;
            instructions: string;
            description: string | null;
            priority: components["schemas"]["Priority"];
            acceptance_criteria: components["schemas"]["CleanCriterion"][];
            required_outputs: components["schemas"]["RequiredOutput"][];
            tsgs: string[];
            parent_session_id: string | null;
            client_cwd: string | null;
            depends_on: string[];
            review: components["schemas"]["ReviewMode"];
            task_context: components["schemas"]["TaskContext"] | null;
            budget: components["schemas"]["TaskBudget"] | null;
            metadata: {
                [key: string]: unknown;
            };
        };
        CleanCriterion: {
            text: string;
            source: components["schemas"]["CriterionSource"];
            required: boolean;
            check?: string;
        };
        /**
         * @example {
         *       "lease_token": "mlt_9YkR…",
         *       "result": "Four public functions: …",
         *       "outputs": {
         *         "functions": [
         *           "parse",
         *           "render"
         *         ]
         *       }
         *     }
         */
        CompleteRequest: {
            /** @description `lease.token` of the claim. */
            lease_token: string;
            /** @description The result. More than 1 MiB is cut. Required, unless the work is blocked. */
            result?: string | null;
            /** @description Values of the required outputs, by name. */
            outputs?: {
                [key: string]: unknown;
            } | null;
            summary?: string | null;
            usage?: components["schemas"]["UsageDelta"] | null;
            /** @description Set it if the work cannot continue. The subtask ends as `incomplete_blocked`. */
            blocked_reason?: string | null;
        };
        ConfirmedUpdate: {
            /** @description Always true: every other case is answered with 404. */
            genuine: boolean;
            /** Format: uuid */
            task_id: string | null;
            /** Format: uuid */
            subtask_id: string | null;
            /** Format: int64 */
            revision: number | null;
            sender: components["schemas"]["Reference"];
            /** Format: date-time */
            created_at: string;
            /** @description SHA-256 of the content in UTF-8, in hexadecimal. */
            content_sha256: string;
            content: string;
        };
        /** @enum {string} */
        CostSource: "reported" | "priced" | "mixed";
        /** @description Other fields as in `ApiKey`. */
        CreatedApiKey: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            project_id: string;
            name: string;
            key_prefix: string;
            scopes: components["schemas"]["Scope"][];
            agent_id: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            expires_at: string | null;
            /** Format: date-time */
            revoked_at: string | null;
            /** @description Shown once; null when the answer is repeated. */
            key: string | null;
        };
        /**
         * @example {
         *       "title": "Document the public functions",
         *       "instructions": "List the public functions of src/ with one sentence each.",
         *       "acceptance_criteria": [
         *         "Every exported function is listed"
         *       ],
         *       "required_outputs": [
         *         "functions"
         *       ],
         *       "priority": "high",
         *       "parent_session_id": "research-1"
         *     }
         */
        CreatedTask: {
            /** @description Send it together with `instructions`, or send `description` instead of both. */
            title?: string | null;
            instructions?: string | null;
            acceptance_criteria?: (string | components["schemas"]["NewCriterion"])[] | null;
            /** @description The outputs that completion must submit, each a name or an object. Without a schema, null and empty values (`""`, blanks, `[]`, `{}`) count as missing. */
            required_outputs?: (string | components["schemas"]["NewRequiredOutput"])[] | null;
            /** @description low, normal (the default), high or urgent. */
            priority?: components["schemas"]["Priority"] | null;
            /** @description Tasks that must be completed first. */
            depends_on?: string[] | null;
            /** @description The absolute folder that relative paths start at. A dispatched run works there if it is inside `WORKSPACE_ROOTS`, otherwise in `workspace`. */
            client_cwd?: string | null;
            /** @description Why the task exists and the current situation. */
            background_context?: string | null;
            expected_deliverables?: string[] | null;
            /** @description How to recognise that the task is done. A plain list of criteria is taken as well. */
            success_criteria?: components["schemas"]["NewSuccessCriteria"] | null;
            /** @description Rules that the work must follow. A plain list of rules is taken as well. */
            constraints?: components["schemas"]["NewConstraints"] | null;
            /** @description Relative paths start at `client_cwd`. */
            relevant_files?: string[] | null;
            /** @description URLs (the server does not fetch them) or files. */
            related_documentation?: string[] | null;
            /** @description What all its subtasks and judgements may use together. Default: any amount. */
            budget?: components["schemas"]["NewTaskBudget"] | null;
            /** @description Your own data, at most 16 KiB as JSON. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description In place of title and instructions: its first line is the title. */
            description?: string | null;
            /** @description Ids of troubleshooting guides that belong to the task. */
            tsgs?: string[] | null;
            /**
             * @description The session whose inbox reports the end of the task, and that it waits for review.
             * @example research-1
             */
            parent_session_id?: string | null;
            /** @description Who reviews the submitted outputs. Default: none. */
            review?: components["schemas"]["ReviewMode"] | null;
            callback?: components["schemas"]["Callback"] | null;
        };
        Criterion: {
            /**
             * Format: uuid
             * @description Lasts across edits of the brief.
             */
            id: string;
            text: string;
            source: components["schemas"]["CriterionSource"];
            required: boolean;
            /** @description The check that decides it. Absent if none does. */
            check?: string;
            state: components["schemas"]["CriterionState"];
        };
        /** @enum {string} */
        CriterionSource: "acceptance" | "success" | "constraint";
        /**
         * @description The state in the latest check-in, or by its latest check; `open` before the first.
         * @enum {string}
         */
        CriterionState: "open" | "met" | "unmet" | "unclear";
        CriterionVerdict: {
            id: string;
            text: string;
            source: components["schemas"]["CriterionSource"];
            required: boolean;
            /** @description The check that decides it. Absent if none does. */
            check?: string;
            verdict: components["schemas"]["VerdictValue"];
            /** @description A quote of the agent, of the output, or of the schema validator. */
            evidence: string | null;
            method: components["schemas"]["VerdictMethod"];
        };
        /**
         * @description next_step: before the next step. interrupt: stop the current step and deliver this first, if the runner supports it.
         * @enum {string}
         */
        Delivery: "next_step" | "interrupt";
        DeliveryAttempt: {
            /** Format: date-time */
            at: string;
            /**
             * Format: int64
             * @description The status of the answer; null if there was none.
             */
            status: number | null;
            /** Format: int64 */
            latency_ms: number;
            /** @description Why there was no answer, or none that counts. */
            error: string | null;
            /** @description The beginning of the answer, at most 1 KiB. */
            response: string | null;
        };
        DeliveryReceiver: {
            kind: components["schemas"]["ReceiverKind"];
            /**
             * Format: uuid
             * @description Of a webhook, its id. Those of callbacks and channels tell them apart.
             */
            id: string;
        };
        /** @enum {string} */
        DiffOp: "keep" | "add" | "remove";
        DiffPart: {
            op: components["schemas"]["DiffOp"];
            text: string;
        };
        Drain: {
            worker_id: string;
            runs: components["schemas"]["DrainMode"];
            /**
             * Format: date-time
             * @description When the worker was asked first.
             */
            requested_at: string;
        };
        /**
         * @description `finish` lets its runs end, `release` gives them back, so that other workers run them again.
         * @enum {string}
         */
        DrainMode: "finish" | "release";
        /** @description Needs SMTP_URL and SMTP_FROM of the operator */
        EmailSettings: {
            to: string[];
            /** @description What is reported. A subtask or schedule with `notify: false` is not. */
            on: components["schemas"]["MessageOccasion"][];
            quiet_hours?: components["schemas"]["QuietHours"];
            /** @description What is reported within so many minutes becomes one message, but for questions. */
            digest_minutes?: number;
        };
        /**
         * @description strict: a constraint counts as a criterion. advisory: it only warns.
         * @enum {string}
         */
        EnforcementLevel: "strict" | "advisory";
        /**
         * @example {
         *       "id": "01990000-0000-7000-8000-000000000002",
         *       "agent_id": "default",
         *       "task": "Find out where the staging database listens.",
         *       "outcome": "completed",
         *       "summary": null,
         *       "result": "On port 6543.",
         *       "result_truncated": false,
         *       "completed_at": "2026-03-02T08:00:00.000Z"
         *     }
         */
        Episode: {
            /**
             * Format: uuid
             * @description Id of the subtask.
             */
            id: string;
            agent_id: string;
            /** @description The instructions of the subtask. */
            task: string;
            outcome: components["schemas"]["FinalOutcome"];
            summary: string | null;
            /** @description Null if the subtask ended without a result. */
            result: string | null;
            /** @description Whether the stored result was cut. */
            result_truncated: boolean;
            /** Format: date-time */
            completed_at: string;
        };
        /**
         * @description What to decide by. `x-error-codes` has the status of each.
         * @enum {string}
         */
        ErrorCode: "validation_failed" | "cursor_invalid" | "unauthenticated" | "forbidden" | "spawn_blocked" | "not_found" | "subagent_not_found" | "method_not_allowed" | "conflict" | "invalid_transition" | "not_cancellable" | "not_steerable" | "tsg_in_use" | "request_in_progress" | "cursor_pruned" | "lease_lost" | "revision_stale" | "payload_too_large" | "uri_too_long" | "unsupported_media_type" | "expectation_failed" | "idempotency_mismatch" | "outputs_missing" | "dependency_cycle" | "schedule_ambiguous" | "schedule_unparseable" | "schedule_in_past" | "subagent_invalid" | "background_mcp_blocked" | "runner_unavailable" | "revision_required" | "rate_limited" | "pending_limit_reached" | "quota_exceeded" | "budget_exhausted" | "headers_too_large" | "internal" | "method_not_implemented" | "unavailable" | "subtasks_disabled" | "secrets_not_configured" | "schedules_disabled";
        EvaluatedPayload: {
            full_output: string;
            /**
             * Format: uuid
             * @description The latest evaluation of the output.
             */
            evaluation_id: string;
            /** Format: uuid */
            subtask_id: string | null;
        };
        /**
         * @example {
         *       "id": "0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7b",
         *       "evaluation_id": "0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7b",
         *       "origin": "request",
         *       "task_id": null,
         *       "subtask_id": null,
         *       "message_id": null,
         *       "session_id": null,
         *       "subagent": null,
         *       "score": 0.6125,
         *       "recommendation": "review",
         *       "criteria_revision": null,
         *       "rule_version": 2,
         *       "judge_of": null,
         *       "review_of": null,
         *       "judge": null,
         *       "created_at": "2026-03-02T08:00:09.310Z",
         *       "warnings": [
         *         {
         *           "code": "unmet_criterion",
         *           "message": "Criterion \"Rate limiting\" is unmet (check_in).",
         *           "criterion_id": "criterion-3"
         *         }
         *       ],
         *       "reflection": {
         *         "items": [],
         *         "item_count": 0,
         *         "score": null,
         *         "categories": {}
         *       },
         *       "dimensions": {
         *         "correctness": 0.7,
         *         "security": null,
         *         "style": null,
         *         "completeness": 0.35
         *       },
         *       "criteria": [
         *         {
         *           "id": "criterion-1",
         *           "text": "Implements JWT authentication",
         *           "source": "acceptance",
         *           "required": true,
         *           "verdict": "met",
         *           "evidence": "Implements JWT authentication",
         *           "method": "check_in"
         *         },
         *         {
         *           "id": "criterion-2",
         *           "text": "Includes unit tests",
         *           "source": "acceptance",
         *           "required": true,
         *           "verdict": "met",
         *           "evidence": "Includes unit tests",
         *           "method": "check_in"
         *         },
         *         {
         *           "id": "criterion-3",
         *           "text": "Rate limiting",
         *           "source": "acceptance",
         *           "required": true,
         *           "verdict": "unmet",
         *           "evidence": "Rate limiting has race condition",
         *           "method": "check_in"
         *         },
         *         {
         *           "id": "criterion-4",
         *           "text": "OAuth scope",
         *           "source": "acceptance",
         *           "required": true,
         *           "verdict": "unclear",
         *           "evidence": "OAuth scope needs clarification",
         *           "method": "check_in"
         *         }
         *       ],
         *       "threshold": 0.6,
         *       "approve_at": 0.8,
         *       "trust": "evidence"
         *     }
         */
        Evaluation: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @deprecated
             * @description Use `id`.
             */
            evaluation_id: string;
            origin: components["schemas"]["EvaluationOrigin"];
            /** Format: uuid */
            task_id: string | null;
            /** Format: uuid */
            subtask_id: string | null;
            /** Format: uuid */
            message_id: string | null;
            session_id: string | null;
            subagent: string | null;
            /** @description Null if no item of the output counts. */
            score: number | null;
            recommendation: components["schemas"]["Recommendation"];
            /** @description For an output that has to be revised: the problems, and the first and last part of the output. */
            summary?: string;
            /**
             * Format: int64
             * @description The task revision whose criteria were applied.
             */
            criteria_revision: number | null;
            /**
             * Format: int64
             * @description Of the evaluation rule. 2: an approval needs every required criterion met.
             */
            rule_version: number;
            /**
             * Format: uuid
             * @description The evaluation to which this one adds the verdicts of checks or of a judge.
             */
            judge_of: string | null;
            /**
             * Format: uuid
             * @description The evaluation that a person reviewed. The recommendation is then the decision of the review.
             */
            review_of: string | null;
            /** @description Null if no judge was asked. */
            judge: components["schemas"]["Judgement"] | null;
            /** Format: date-time */
            created_at: string;
            warnings: components["schemas"]["EvaluationWarning"][];
            reflection: components["schemas"]["Reflection"];
            dimensions: components["schemas"]["EvaluationDimensions"];
            /** @description One verdict per criterion, in order. */
            criteria: components["schemas"]["CriterionVerdict"][];
            /** @description Outputs below this score have to be revised. */
            threshold: number;
            /** @description Outputs at or above this score are approved. */
            approve_at: number;
            /** @description What `review: auto` completed on, as in `EvaluationSettings`. Null for `rule_version` 1, which asked for none. */
            trust: components["schemas"]["Trust"] | null;
            /** @description In the answer to `POST /evaluations`: the complete output, unless it has to be revised. */
            full_payload?: string;
        };
        /** @description The score of some categories; null if no item of them counts. */
        EvaluationDimensions: {
            correctness: number | null;
            security: number | null;
            style: number | null;
            completeness: number | null;
        };
        EvaluationGates: {
            security?: boolean;
            required_criteria?: boolean;
            strict_constraints?: boolean;
        };
        EvaluationGroup: {
            /** @description The day (UTC), the sub-agent (null: none), or the criterion. */
            key: string | null;
            /** Format: int64 */
            outputs: number;
            /**
             * Format: int64
             * @description The number of outputs with a score.
             */
            scored: number;
            /** @description The average score; null if there are none. */
            average_score: number | null;
            recommendations: components["schemas"]["RecommendationCounts"];
            /** @description The verdicts on the criterion; null for other groupings. */
            verdicts: components["schemas"]["VerdictCounts"] | null;
        };
        /** @enum {string} */
        EvaluationGrouping: "day" | "subagent" | "criterion";
        EvaluationList: {
            items: components["schemas"]["EvaluationSummary"][];
            next_cursor: string | null;
        };
        /**
         * @description The cause: a request, a stored message, the result of a subtask, the completion of a task, or its review.
         * @enum {string}
         */
        EvaluationOrigin: "request" | "message" | "subtask" | "completion" | "review";
        /** @description The latest evaluation of the result. Present once the subtask has completed. */
        EvaluationRef: {
            /** Format: uuid */
            id: string;
            score: number | null;
            recommendation: components["schemas"]["Recommendation"];
        };
        /** @description By what outputs are judged; what is absent is as in the defaults */
        EvaluationSettings: {
            /** @description What an item of each category adds, from -1 to 1; 0: it does not count. */
            weights?: {
                [key: string]: number;
            };
            /** @description From this score on a result is approved (0.8). */
            approve_at?: number;
            /** @description Below this score a result has to be revised (0.6); at most approve_at. */
            threshold?: number;
            /** @description What caps a recommendation at review: a security item, a required criterion that is not met, a strict constraint that is not shown to be kept. */
            gates?: components["schemas"]["EvaluationGates"];
            /** @description What `review: auto` completes a task on. evidence (the default): for each required criterion. self_report: the word of the agent is enough, except for strict constraints. */
            trust?: components["schemas"]["Trust"];
            /** @description Whether a model gives verdicts as well (false), and which. */
            judge?: boolean | components["schemas"]["JudgeSettings"];
        };
        /** @description Other fields as in `EvaluationGroup`. */
        EvaluationStats: {
            /**
             * Format: date-time
             * @description Outputs that were first evaluated from then on
             */
            since: string;
            /**
             * Format: date-time
             * @description and before then.
             */
            until: string;
            /**
             * Format: date-time
             * @deprecated
             * @description Use `since`.
             */
            from: string;
            /**
             * Format: date-time
             * @deprecated
             * @description Use `until`.
             */
            to: string;
            by: components["schemas"]["EvaluationGrouping"];
            /** Format: int64 */
            outputs: number;
            /** Format: int64 */
            scored: number;
            average_score: number | null;
            recommendations: components["schemas"]["RecommendationCounts"];
            /** @description Days: newest first. Others: most outputs first. At most 400. */
            groups: components["schemas"]["EvaluationGroup"][];
            /** @description True if the time range has more than the newest 50,000 outputs that were counted. */
            is_cut: boolean;
        };
        /** @description Other fields as in `Evaluation`. */
        EvaluationSummary: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @deprecated
             */
            evaluation_id: string;
            origin: components["schemas"]["EvaluationOrigin"];
            /** Format: uuid */
            task_id: string | null;
            /** Format: uuid */
            subtask_id: string | null;
            /** Format: uuid */
            message_id: string | null;
            session_id: string | null;
            subagent: string | null;
            score: number | null;
            recommendation: components["schemas"]["Recommendation"];
            summary?: string;
            /** Format: int64 */
            criteria_revision: number | null;
            /** Format: int64 */
            rule_version: number;
            /** Format: uuid */
            judge_of: string | null;
            /** Format: uuid */
            review_of: string | null;
            judge: components["schemas"]["Judgement"] | null;
            /** Format: date-time */
            created_at: string;
        };
        EvaluationWarning: {
            code: components["schemas"]["EvaluationWarningCode"];
            message: string;
            criterion_id?: string;
        };
        /** @enum {string} */
        EvaluationWarningCode: "negative_item" | "unmet_criterion" | "gate" | "self_report_only" | "unmatched";
        /**
         * @example {
         *       "id": 1042,
         *       "type": "subtask.completed",
         *       "at": "2026-03-02T08:00:09.310Z",
         *       "project_id": "00000000-0000-7000-8000-000000000001",
         *       "subject": {
         *         "kind": "subtask",
         *         "id": "0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47"
         *       },
         *       "data": {
         *         "subtask_id": "0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47",
         *         "task": "List the public functions of src/ …",
         *         "parent_session_id": "research-1"
         *       },
         *       "actor": {
         *         "kind": "worker",
         *         "id": "worker-7"
         *       }
         *     }
         */
        Event: {
            /**
             * Format: int64
             * @description Position in the log. A reader that pages by it misses no event.
             */
            id: number;
            type: components["schemas"]["EventType"];
            /** Format: date-time */
            at: string;
            /** Format: uuid */
            project_id: string;
            subject: components["schemas"]["Reference"];
            data: {
                [key: string]: unknown;
            };
            actor: components["schemas"]["Reference"];
        };
        /**
         * @example {
         *       "id": "0198c9b1-0000-7000-8000-00000000000c",
         *       "receiver": {
         *         "kind": "webhook",
         *         "id": "0198c9b0-0000-7000-8000-00000000000b"
         *       },
         *       "subject": {
         *         "kind": "subtask",
         *         "id": "0198c9a1-0000-7000-8000-000000000001"
         *       },
         *       "type": "subtask.completed",
         *       "event_id": 1042,
         *       "status": "delivered",
         *       "attempts": [
         *         {
         *           "at": "2026-03-02T08:00:09.400Z",
         *           "status": 204,
         *           "latency_ms": 38,
         *           "error": null,
         *           "response": null
         *         }
         *       ],
         *       "next_attempt_at": null,
         *       "created_at": "2026-03-02T08:00:09.350Z",
         *       "ended_at": "2026-03-02T08:00:09.440Z",
         *       "ended_reason": null,
         *       "body": "{\"type\":\"subtask.completed\",\"timestamp\":\"2026-03-02T08:00:09.310Z\",\"id\":1042,…}"
         *     }
         */
        EventDelivery: {
            /**
             * Format: uuid
             * @description The same in all attempts: the header `webhook-id` of webhooks and callbacks.
             */
            id: string;
            receiver: components["schemas"]["DeliveryReceiver"];
            /** @description What the event is about; null for a test. */
            subject: components["schemas"]["Reference"] | null;
            /** @description The type of the event, or `webhook.test`. */
            type: string;
            /**
             * Format: int64
             * @description The position of the event in the log; null for a test.
             */
            event_id: number | null;
            status: components["schemas"]["EventDeliveryStatus"];
            /** @description The last 20 attempts, oldest first. */
            attempts: components["schemas"]["DeliveryAttempt"][];
            /**
             * Format: date-time
             * @description When it is due; while it is pending.
             */
            next_attempt_at: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was delivered or given up.
             */
            ended_at: string | null;
            /** @description Why it was given up without another attempt. */
            ended_reason: string | null;
            /** @description What is sent, byte for byte; messages of channels are composed from it. */
            body: string;
        };
        EventDeliveryList: {
            items: components["schemas"]["EventDeliverySummary"][];
            next_cursor: string | null;
        };
        /**
         * @description pending: waits for its next attempt. sending: a worker sends it. delivered: the receiver answered 2xx. failed: given up; it can be sent again.
         * @enum {string}
         */
        EventDeliveryStatus: "pending" | "sending" | "delivered" | "failed";
        /** @description Other fields as in `EventDelivery`. */
        EventDeliverySummary: {
            /** Format: uuid */
            id: string;
            receiver: components["schemas"]["DeliveryReceiver"];
            subject: components["schemas"]["Reference"] | null;
            type: string;
            /** Format: int64 */
            event_id: number | null;
            status: components["schemas"]["EventDeliveryStatus"];
            attempts: components["schemas"]["DeliveryAttempt"][];
            /** Format: date-time */
            next_attempt_at: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at: string | null;
            ended_reason: string | null;
        };
        /**
         * @description A type of events, all types of a noun such as `subtask.*`, or `*`.
         * @enum {string}
         */
        EventPattern: "*" | "subtask.*" | "task.*" | "update.*" | "question.*" | "schedule.*" | "check.*" | "evaluation.*" | "tsg.*" | "webhook.*" | "subtask.created" | "subtask.started" | "subtask.progress" | "subtask.retrying" | "subtask.released" | "subtask.waiting" | "subtask.resumed" | "subtask.cancel_requested" | "subtask.completed" | "subtask.failed" | "subtask.cancelled" | "task.created" | "task.revised" | "task.assigned" | "task.blocked" | "task.unblocked" | "task.checked_in" | "task.in_review" | "task.revision_requested" | "task.completed" | "task.failed" | "task.cancelled" | "update.queued" | "update.delivered" | "update.acknowledged" | "update.superseded" | "update.expired" | "question.asked" | "question.answered" | "question.expired" | "question.withdrawn" | "schedule.created" | "schedule.fired" | "schedule.skipped" | "schedule.paused" | "schedule.finished" | "schedule.deactivated" | "check.completed" | "evaluation.created" | "tsg.surfaced" | "tsg.resolved" | "webhook.disabled";
        /** @enum {string} */
        EventType: "subtask.created" | "subtask.started" | "subtask.progress" | "subtask.retrying" | "subtask.released" | "subtask.waiting" | "subtask.resumed" | "subtask.cancel_requested" | "subtask.completed" | "subtask.failed" | "subtask.cancelled" | "task.created" | "task.revised" | "task.assigned" | "task.blocked" | "task.unblocked" | "task.checked_in" | "task.in_review" | "task.revision_requested" | "task.completed" | "task.failed" | "task.cancelled" | "update.queued" | "update.delivered" | "update.acknowledged" | "update.superseded" | "update.expired" | "question.asked" | "question.answered" | "question.expired" | "question.withdrawn" | "schedule.created" | "schedule.fired" | "schedule.skipped" | "schedule.paused" | "schedule.finished" | "schedule.deactivated" | "check.completed" | "evaluation.created" | "tsg.surfaced" | "tsg.resolved" | "webhook.disabled";
        ExhaustedBudget: {
            /** @description `project`, `agent` or `task`. */
            scope: string;
            /** @description `day` or `total`. */
            window: string;
            /** @description `tokens` or `cost_usd`. */
            unit: string;
            agent_id?: string | null;
            task_id?: string | null;
        };
        /**
         * @example {
         *       "id": "01990000-0000-7000-8000-000000000001",
         *       "agent_id": "default",
         *       "source_subtask_id": "01990000-0000-7000-8000-000000000002",
         *       "created_at": "2026-03-02T08:00:00.000Z",
         *       "content": "The staging database listens on port 6543.",
         *       "tags": [
         *         "staging"
         *       ],
         *       "author": {
         *         "kind": "subtask",
         *         "id": "01990000-0000-7000-8000-000000000002"
         *       }
         *     }
         */
        Fact: {
            /** Format: uuid */
            id: string;
            content: string;
            tags: string[];
            /** @description The agent of the credential, otherwise of the source subtask. */
            agent_id: string | null;
            /** Format: uuid */
            source_subtask_id: string | null;
            /** @description The owner of the credential that made the request. */
            author: components["schemas"]["Reference"];
            /** Format: date-time */
            created_at: string;
        };
        /**
         * @example {
         *       "lease_token": "mlt_9YkR…",
         *       "error": "The model did not answer.",
         *       "retryable": true
         *     }
         */
        FailRequest: {
            /** @description `lease.token` of the claim. */
            lease_token: string;
            /** @description What went wrong. The caller of the subtask reads this text. */
            error: string;
            /** @description Whether another attempt may succeed. Default: true. */
            retryable?: boolean | null;
            usage?: components["schemas"]["UsageDelta"] | null;
        };
        FieldProblem: {
            /** @description JSON pointer into the body, `?name` for a query parameter, `{name}` for a path parameter, `name:` for a header. */
            pointer: string;
            field: string;
            reason: string;
            /** @description What was sent, cut to 100 characters. */
            value?: unknown;
            /**
             * Format: int64
             * @description Of a text of lines, from 1.
             */
            line?: number;
        };
        /** @description What the server knew about a file when it validated the brief. */
        FileCheck: {
            field: components["schemas"]["FileField"];
            /** @description As it was sent. */
            path: string;
            /** @description `not_checked` wherever the server may not look: outside of `WORKSPACE_ROOTS`, also by way of links. */
            status: components["schemas"]["FileStatus"];
            /** @description For `not_found`: the path in the same folder with the most similar name, if there is one. */
            nearest: string | null;
        };
        /** @enum {string} */
        FileField: "relevant_files" | "related_documentation";
        /** @enum {string} */
        FileStatus: "found" | "not_found" | "not_checked";
        /** @enum {string} */
        FinalOutcome: "completed" | "cancelled" | "incomplete_blocked" | "validation_failed" | "timed_out" | "errored" | "worker_lost" | "budget_exceeded";
        Health: {
            /** @constant */
            status: "ok";
        };
        HeartbeatAnswer: {
            /**
             * Format: date-time
             * @description Until when the lease holds now.
             */
            expires_at: string;
            /** @description True: stop the work and call fail or release. */
            cancel_requested: boolean;
            /** @description Repeated until they are acknowledged. */
            updates: components["schemas"]["WordedUpdate"][];
        };
        /**
         * @example {
         *       "lease_token": "mlt_9YkR…",
         *       "ack_update_ids": [],
         *       "steps": [
         *         {
         *           "kind": "message",
         *           "content": "Reading src/"
         *         }
         *       ]
         *     }
         */
        HeartbeatRequest: {
            /** @description `lease.token` of the claim. */
            lease_token: string;
            /** @description Ids of updates that the agent acknowledges. Default: []. */
            ack_update_ids?: string[] | null;
            /** @description Steps since the last heartbeat, for the transcript. */
            steps?: components["schemas"]["NewStep"][] | null;
            usage?: components["schemas"]["UsageDelta"] | null;
        };
        /**
         * @description auto: delivered once, without acknowledgement. manual: delivered again after 60 s unless the claim is acknowledged.
         * @enum {string}
         */
        InboxAck: "auto" | "manual";
        /**
         * @example {
         *       "limit": 10
         *     }
         */
        InboxClaimRequest: {
            /** @description The maximum number of items. Default: 50. */
            limit?: number | null;
            /** @description Default: auto. */
            ack?: components["schemas"]["InboxAck"] | null;
        };
        InboxItem: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @deprecated
             * @description Use `id`.
             */
            inbox_id: string;
            kind: components["schemas"]["InboxItemKind"];
            /**
             * Format: uuid
             * @description Null unless kind is question.
             */
            question_id: string | null;
            /**
             * Format: uuid
             * @description Null for kind task.
             */
            subtask_id: string | null;
            /**
             * Format: uuid
             * @description The task, or the task that the subtask ran.
             */
            task_id: string | null;
            /** @description The instructions of the subtask, the title of the task, or the prompt of the question. */
            task: string;
            status: components["schemas"]["ReportedStatus"];
            /** @description Null for kind task. */
            final_outcome: components["schemas"]["FinalOutcome"] | null;
            /** @description The score of the latest evaluation of the result. */
            score: number | null;
            /** @description Null if the subtask did not complete. */
            recommendation: components["schemas"]["Recommendation"] | null;
            /** @description The result; of a task, its outputs as text; of a question, what its answer has to fit. Null if the result has to be revised: then read `/subtasks/{id}/payload` or `/tasks/{id}/payload`. */
            result: string | null;
            /** @description The submitted summary. For a result that has to be revised: the problems, and its first and last part. */
            summary: string | null;
            /** @description Why the work did not complete. */
            error: string | null;
            /** @description True if the result was cut. */
            truncated: boolean;
            /**
             * Format: date-time
             * @description When the subtask or the task ended, or the task was handed in for review.
             */
            completed_at: string;
        };
        /**
         * @description subtask: a subtask of the session ended. task: a task with this `parent_session_id`, not run by a subtask, ended or waits for a review. question: a run or an assignee asks something.
         * @enum {string}
         */
        InboxItemKind: "subtask" | "task" | "question";
        Injection: {
            /**
             * Format: uuid
             * @description The id to acknowledge; null if there is nothing to acknowledge.
             */
            claim_id: string | null;
            /** @description All items as one text for the next model request; empty if there is nothing new. */
            text: string;
            items: components["schemas"]["InjectionItem"][];
            /**
             * Format: date-time
             * @description When the items come again unless they are acknowledged.
             */
            lease_expires_at: string | null;
        };
        InjectionItem: {
            kind: components["schemas"]["InjectionItemKind"];
            /** @description The id of the task, update, guide or inbox item. */
            id: string;
            /**
             * Format: uuid
             * @description The id to confirm the update with.
             */
            update_id: string | null;
            /** Format: uuid */
            task_id: string | null;
            /**
             * Format: int64
             * @description The revision of the brief after the update.
             */
            revision: number | null;
            text: string;
        };
        /**
         * @description assignment: a whole brief. update: a change to a brief or a note. tsg_notice: a guide for a recent failure. inbox: the end of a subtask, or the end or review of a task.
         * @enum {string}
         */
        InjectionItemKind: "assignment" | "update" | "tsg_notice" | "inbox";
        /**
         * @example {
         *       "messages": [
         *         "Error: EACCES: permission denied, open /var/lib/data"
         *       ]
         *     }
         */
        InjectionRequest: {
            /** @description The latest messages, which are scanned for failures that guides cover. Default: []. */
            messages?: string[] | null;
        };
        JudgeModel: {
            /** @description Default: the judge of the server. */
            model?: string | null;
        };
        /** @description Whether a model gives verdicts too, and which model. Default: the settings of the project. */
        JudgeRequest: boolean | components["schemas"]["JudgeModel"];
        JudgeSettings: {
            model?: string;
        };
        /** @description The progress of the judge. Its verdicts are stored as a separate evaluation. */
        Judgement: {
            status: components["schemas"]["JudgementStatus"];
            /** @description Null while the default judge of the server has not answered. */
            model: string | null;
            /**
             * Format: uuid
             * @description The evaluation with the verdicts of the judge.
             */
            evaluation_id: string | null;
            /** @description Why the judge gives no verdicts. */
            error: string | null;
            cost_usd: number;
        };
        /** @enum {string} */
        JudgementStatus: "pending" | "done" | "failed";
        Lease: {
            /** @description The proof of the lease. Every write needs it. */
            token: string;
            /** Format: int64 */
            attempt: number;
            /**
             * Format: date-time
             * @description When the lease expires, unless a heartbeat renews it.
             */
            expires_at: string;
        };
        LinkedTsg: {
            id: string;
            /**
             * @deprecated
             * @description Use `id`.
             */
            tsg_id: string;
            title: string;
        };
        /** @enum {string} */
        LoopAction: "block" | "notice" | "off";
        /** @description When work counts as going in circles, and what happens then */
        LoopSettings: {
            /** @description After so many equal failures of one call a notice is sent (3); after twice as many the run is blocked. */
            repeats?: number;
            /** @description After so many seconds without a new step a notice is sent (600); after twice as many the run is blocked. 0: never. */
            quiet_seconds?: number;
            /** @description block (the default): a notice, then the end. notice: the notice alone. off: nothing. */
            action?: components["schemas"]["LoopAction"];
        };
        Memory: {
            kind: components["schemas"]["MemoryKind"];
            /**
             * Format: uuid
             * @description Id for `/memory/facts/{id}` or `/memory/episodes/{id}`.
             */
            id: string;
            /** @description How well the item matches. Comparable within one answer only. */
            score: number;
            /** @description For a fact: its first 4000 characters. */
            content: string | null;
            tags: string[];
            /** @description For an episode: the first 1000 characters of the instructions. */
            task: string | null;
            /** @description For an episode. */
            outcome: components["schemas"]["FinalOutcome"] | null;
            /** @description For an episode: the first 1000 characters of the summary. */
            summary: string | null;
            /** @description For an episode: the first 2000 characters of the result. */
            result: string | null;
            /** @description Whether texts were cut in this answer. */
            truncated: boolean;
            /** @description The agent of the credential, otherwise of the source subtask. */
            agent_id: string | null;
            /**
             * Format: uuid
             * @description The source subtask; for an episode, the subtask itself.
             */
            source_subtask_id: string | null;
            /**
             * Format: date-time
             * @description When it was learnt, or when the subtask ended.
             */
            created_at: string;
        };
        /**
         * @description fact: a stored statement. episode: the instructions and the result of an ended subtask.
         * @enum {string}
         */
        MemoryKind: "fact" | "episode";
        MemorySearch: {
            /** @description Best first; equal scores newest first. */
            items: components["schemas"]["Memory"][];
        };
        Message: {
            /** Format: uuid */
            id: string;
            session_id: string;
            role: components["schemas"]["MessageRole"];
            /** @description Null if it is longer than 64 KiB. */
            content: string | null;
            /**
             * Format: int64
             * @description Length of the whole content, in bytes of UTF-8.
             */
            content_bytes: number;
            model: string | null;
            /** Format: uuid */
            task_id: string | null;
            agent_name: string | null;
            usage: {
                [key: string]: unknown;
            } | null;
            metadata: {
                [key: string]: unknown;
            };
            /** @description The score of its evaluation, if it has reflection or check-in blocks; null if no item in them counts. */
            eval_score: number | null;
            /** @description The problems, if the message has to be revised. */
            eval_summary: string | null;
            quality_flag: components["schemas"]["Quality"] | null;
            training_candidate: boolean;
            /** Format: date-time */
            created_at: string;
        };
        MessageList: {
            items: components["schemas"]["Message"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        MessageOccasion: "completed" | "failed" | "question";
        /** @enum {string} */
        MessageRole: "user" | "assistant" | "system" | "tool";
        /**
         * @description Slots that the server could not fire in time. skip: they pass. run_once: one run, for the latest, replaces all.
         * @enum {string}
         */
        MissedPolicy: "skip" | "run_once";
        /**
         * @example {
         *       "decision": "approve"
         *     }
         */
        NewAnswer: {
            option_id?: string | null;
            /** @description The answer to a question without options, valid against its schema; beside a decision, a text. */
            answer?: unknown;
            decision?: components["schemas"]["ApprovalDecision"] | null;
            /** @description With approve: permits these arguments instead of those that were asked about. */
            edited_arguments?: {
                [key: string]: unknown;
            } | null;
            /** @description With approve: approves whatever the same rule asks about, for the rest of the run. */
            always?: boolean | null;
            /** @description The `arguments_digest` that you decide about. An approval of other arguments is refused. */
            arguments_digest?: string | null;
            /**
             * Format: int64
             * @description The current revision of the task, to answer a question that was asked at an older one.
             */
            revision?: number | null;
        };
        /**
         * @example {
         *       "name": "controller",
         *       "scopes": [
         *         "subtasks:read",
         *         "subtasks:write",
         *         "sessions:write"
         *       ]
         *     }
         */
        NewApiKey: {
            name: string;
            scopes: components["schemas"]["Scope"][];
            /**
             * @description Binds the key to one agent: it overrides what requests say.
             * @example docs-writer
             */
            agent_id?: string | null;
            /**
             * Format: date-time
             * @description When the key expires, in the future. Default: never.
             */
            expires_at?: string | null;
        };
        /** @description The limit for all attempts together. A subtask that reaches it ends as `budget_exceeded`. */
        NewBudget: {
            /** @description Model responses; for programs and outside workers, the steps that they report. Default: 50. */
            max_steps?: number | null;
            /** Format: int64 */
            max_tokens?: number | null;
            max_cost_usd?: number | null;
        };
        /**
         * @example {
         *       "content": "<npl-block type=\"check-in\" task-id=\"0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31\" revision=\"2\">\nacceptance_criteria:\n  - ✅ Every exported function is listed (0198c9b1-4c01-7000-8000-000000000001)\nstatus: in_progress\nnext_steps:\n  - Describe the parser\n</npl-block>"
         *     }
         */
        NewCheckIn: {
            /** @description A text with a check-in block of this task. */
            content: string;
            /**
             * @description The session that says it. Default: the one that holds the task.
             * @example writer-1
             */
            session_id?: string | null;
            /** @description The revision that the assignee works from, if the block names none. */
            revision?: number | null;
        };
        NewConstraints: {
            rules: (string | components["schemas"]["NewCriterion"])[];
            enforcement_level?: components["schemas"]["EnforcementLevel"] | null;
        };
        NewCriterion: {
            /**
             * Format: uuid
             * @description The id of an existing criterion of this task.
             */
            id?: string | null;
            text: string;
            /** @description A check of `CHECKS`. Its exit code decides the criterion, whatever the agent says. A criterion that the task has keeps its check where this is absent; null removes it. */
            check?: string | null;
        };
        NewDefaultAnswer: {
            option_id?: string | null;
            /** @description The answer to a question without options, valid against its schema; beside a decision, a text. */
            answer?: unknown;
            decision?: components["schemas"]["ApprovalDecision"] | null;
        };
        /**
         * @example {
         *       "runs": "finish"
         *     }
         */
        NewDrain: {
            /** @description Default: finish. */
            runs?: components["schemas"]["DrainMode"] | null;
        };
        /**
         * @example {
         *       "output": "JWT is in place, and its tests pass.\n\n<npl-block type=\"check-in\">\nacceptance_criteria:\n  - ✅ Implements JWT authentication\n  - ✅ Includes unit tests\n  - 🐛 Rate limiting has race condition\n  - ❓ OAuth scope needs clarification\n</npl-block>",
         *       "acceptance_criteria": [
         *         "Implements JWT authentication",
         *         "Includes unit tests",
         *         "Rate limiting",
         *         "OAuth scope"
         *       ],
         *       "threshold": 0.6
         *     }
         */
        NewEvaluation: {
            /** @description Characters that cannot be stored (U+0000, lone surrogates) become U+FFFD. */
            output: string;
            /** @description Instead of those of the task. Their ids are `criterion-1`, `criterion-2` and so on. */
            acceptance_criteria?: string[] | null;
            /** @description Below this score the text has to be revised. At most `approve_at` of the project (0.8), which stays as it is. Default: the setting of the project, otherwise 0.6. */
            threshold?: number | null;
            /** Format: uuid */
            task_id?: string | null;
            /**
             * @description The session that it comes from.
             * @example writer-1
             */
            session_id?: string | null;
            judge?: components["schemas"]["JudgeRequest"] | null;
        };
        /**
         * @example {
         *       "content": "The staging database listens on port 6543.",
         *       "tags": [
         *         "staging"
         *       ]
         *     }
         */
        NewFact: {
            /** @description The fact, ideally one sentence that can be understood on its own. */
            content: string;
            /** @description Stored with the fact. Searches use the content only. Default: []. */
            tags?: string[] | null;
            /**
             * Format: uuid
             * @description A subtask’s own credential always means itself.
             */
            source_subtask_id?: string | null;
        };
        /**
         * @example {
         *       "role": "assistant",
         *       "content": "The server does not start: listen EADDRINUSE, address already in use :::3000. I will look for who listens there.",
         *       "model": "claude-sonnet-5",
         *       "agent_name": "writer",
         *       "usage": {
         *         "input_tokens": 1200,
         *         "output_tokens": 310
         *       }
         *     }
         */
        NewMessage: {
            role: components["schemas"]["MessageRole"];
            /** @description Characters that cannot be stored (U+0000, lone surrogates) become U+FFFD. */
            content: string;
            model?: string | null;
            /** Format: uuid */
            task_id?: string | null;
            /**
             * @description Name of the agent that wrote the message.
             * @example writer
             */
            agent_name?: string | null;
            /** @description The usage as reported by the model provider; at most 16 KiB as JSON. */
            usage?: {
                [key: string]: unknown;
            } | null;
            /** @description Your own data, at most 16 KiB as JSON. Default: {}. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @example {
         *       "content": "The tests in tests/legacy are known to fail."
         *     }
         */
        NewNote: {
            /** @description What the assignee should know or do from now on. */
            content: string;
        };
        /**
         * @example {
         *       "quality": "good",
         *       "tags": [
         *         "auth"
         *       ]
         *     }
         */
        NewQualityFlag: {
            quality: components["schemas"]["Quality"];
            /** @description Tags to filter the export by. They replace the previous tags. Default: []. */
            tags?: string[] | null;
        };
        NewQuestionOption: {
            id: string;
            label: string;
            /** @description Default: null. */
            description?: string | null;
        };
        NewRequiredOutput: {
            name: string;
            description?: string | null;
            /** @description JSON Schema 2020-12 of the value; it alone decides whether an empty value is accepted. Null never is. */
            schema?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @description Other fields as in `NewSubtask`.
         * @example {
         *       "task": "Inspect packages and report.",
         *       "every": "weekdays at 9 ET",
         *       "parent_session_id": "research-1"
         *     }
         */
        NewSchedule: {
            task: string;
            /**
             * @description One point in time, as a phrase or RFC 3339.
             * @example in 90 minutes
             * @example tomorrow at noon
             * @example 2026-03-10T09:00:00-05:00
             */
            when?: string | null;
            /**
             * @description A recurrence, as a phrase.
             * @example 30 minutes
             * @example weekdays at 9 ET
             * @example first monday of the month at 9am
             */
            every?: string | null;
            /**
             * @description A recurrence, as a cron expression of five fields, or of six with seconds first.
             * @example 0 9 * * 1-5
             */
            cron?: string | null;
            /**
             * @description IANA name, for times that name no zone. Default: that of the project, otherwise UTC.
             * @example America/New_York
             */
            timezone?: string | null;
            /** @example default */
            agent_id?: string | null;
            notify?: boolean | null;
            /** Format: int64 */
            timeout_seconds?: number | null;
            priority?: components["schemas"]["Priority"] | null;
            /**
             * @description The sub-agent of each run, in its then current version.
             * @example memory-specialist
             */
            subagent?: string | null;
            runner?: string | null;
            model?: string | null;
            budget?: components["schemas"]["NewBudget"] | null;
            /** @description The schedule finishes after this number of firings. Default: no limit. */
            max_fires?: number | null;
            /** @description Default: skip. */
            overlap?: components["schemas"]["OverlapPolicy"] | null;
            /** @description Default: run_once. */
            missed?: components["schemas"]["MissedPolicy"] | null;
            /** @description Seconds that a slot may fire late before it counts as missed. Default: 60. */
            grace_seconds?: number | null;
            /**
             * @description The session whose inbox gets the results. Default: none; channels, webhooks and callback get them.
             * @example research-1
             */
            parent_session_id?: string | null;
            /** @description Where the end of each run is sent to. It is not shown again. */
            callback?: components["schemas"]["Callback"] | null;
            /** @description Each run gets a copy. Default: {}. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        NewStep: {
            kind: components["schemas"]["StepKind"];
            content: unknown;
        };
        /**
         * @example {
         *       "task": "List the public functions of src/ with one sentence each.",
         *       "parent_session_id": "research-1",
         *       "required_outputs": [
         *         "functions"
         *       ],
         *       "metadata": {
         *         "ticket": "DOC-12"
         *       }
         *     }
         */
        NewSubtask: {
            /** @description The instructions, complete: the runner has no other information. */
            task: string;
            /**
             * @description The agent whose limits it counts against. A key bound to an agent overrides it. Default: default.
             * @example default
             */
            agent_id?: string | null;
            /** @description Default: normal. */
            priority?: components["schemas"]["Priority"] | null;
            /**
             * Format: int64
             * @description The time limit of one attempt, at most SUBTASK_MAX_TIMEOUT (600). Default: SUBTASK_DEFAULT_TIMEOUT (120).
             */
            timeout_seconds?: number | null;
            /** @description Whether to put the result into the inbox of the parent session. Default: true. */
            notify?: boolean | null;
            /**
             * @description The session that asks, and whose inbox gets the result.
             * @example research-1
             */
            parent_session_id?: string | null;
            /**
             * Format: uuid
             * @description The task that this subtask is about.
             */
            task_id?: string | null;
            /**
             * @description The sub-agent to run, in the background.
             * @example memory-specialist
             */
            subagent?: string | null;
            /** @description The runner that executes the subtask, one of `GET /runners`. Default: the one marked `default`. */
            runner?: string | null;
            /** @description The model, if the runner supports a choice. Overrides the model of the sub-agent. */
            model?: string | null;
            /** @description The outputs that a complete result must contain, each a name or an object. Without a schema, null and empty values (`""`, blanks, `[]`, `{}`) count as missing. Default: []. */
            required_outputs?: (string | components["schemas"]["NewRequiredOutput"])[] | null;
            /** @description Failed attempts after which the subtask fails. Default: 2. */
            max_attempts?: number | null;
            budget?: components["schemas"]["NewBudget"] | null;
            callback?: components["schemas"]["Callback"] | null;
            /** @description Your own data, at most 16 KiB as JSON. Default: {}. */
            metadata?: {
                [key: string]: unknown;
            } | null;
            /** @description Seconds to wait for the end. Needs the scope `subtasks:read`. Default: 0. */
            wait_seconds?: number | null;
        };
        /**
         * @description Other fields as in `NewTaskQuestion`.
         * @example {
         *       "prompt": "Which database should the example use?",
         *       "options": [
         *         {
         *           "id": "pg",
         *           "label": "PostgreSQL",
         *           "description": "As in production."
         *         },
         *         {
         *           "id": "sqlite",
         *           "label": "SQLite"
         *         }
         *       ],
         *       "default": {
         *         "option_id": "pg"
         *       },
         *       "on_expiry": "default",
         *       "expires_in_seconds": 3600
         *     }
         */
        NewSubtaskQuestion: {
            kind?: components["schemas"]["QuestionKind"] | null;
            prompt: string;
            options?: components["schemas"]["NewQuestionOption"][] | null;
            schema?: {
                [key: string]: unknown;
            } | null;
            arguments?: {
                [key: string]: unknown;
            } | null;
            default?: components["schemas"]["NewDefaultAnswer"] | null;
            expires_in_seconds?: number | null;
            on_expiry?: components["schemas"]["OnExpiry"] | null;
            /** @description `lease.token` of the claim, where an outside worker asks with its key. */
            lease_token?: string | null;
        };
        NewSuccessCriteria: {
            criteria: (string | components["schemas"]["NewCriterion"])[];
            all_required?: boolean | null;
        };
        /**
         * @description Other fields as in `CreatedTask`.
         * @example {
         *       "title": "Document the public functions",
         *       "instructions": "List the public functions of src/ with one sentence each.",
         *       "acceptance_criteria": [
         *         "Every exported function is listed"
         *       ],
         *       "required_outputs": [
         *         "functions"
         *       ],
         *       "priority": "high",
         *       "parent_session_id": "research-1"
         *     }
         */
        NewTask: {
            title?: string | null;
            instructions?: string | null;
            acceptance_criteria?: (string | components["schemas"]["NewCriterion"])[] | null;
            required_outputs?: (string | components["schemas"]["NewRequiredOutput"])[] | null;
            priority?: components["schemas"]["Priority"] | null;
            depends_on?: string[] | null;
            client_cwd?: string | null;
            background_context?: string | null;
            expected_deliverables?: string[] | null;
            success_criteria?: components["schemas"]["NewSuccessCriteria"] | null;
            constraints?: components["schemas"]["NewConstraints"] | null;
            relevant_files?: string[] | null;
            related_documentation?: string[] | null;
            budget?: components["schemas"]["NewTaskBudget"] | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            description?: string | null;
            tsgs?: string[] | null;
            /** @example research-1 */
            parent_session_id?: string | null;
            review?: components["schemas"]["ReviewMode"] | null;
        };
        NewTaskBudget: {
            /**
             * Format: int64
             * @description Read and written.
             */
            max_tokens?: number | null;
            max_cost_usd?: number | null;
        };
        /**
         * @example {
         *       "prompt": "Which database should the example use?",
         *       "options": [
         *         {
         *           "id": "pg",
         *           "label": "PostgreSQL",
         *           "description": "As in production."
         *         },
         *         {
         *           "id": "sqlite",
         *           "label": "SQLite"
         *         }
         *       ],
         *       "default": {
         *         "option_id": "pg"
         *       },
         *       "on_expiry": "default",
         *       "expires_in_seconds": 3600
         *     }
         */
        NewTaskQuestion: {
            /** @description Default: question. */
            kind?: components["schemas"]["QuestionKind"] | null;
            /** @description What the session that is asked should decide. */
            prompt: string;
            /** @description Default: null. */
            options?: components["schemas"]["NewQuestionOption"][] | null;
            /** @description JSON Schema that the answer must fit. Not together with options. Default: null. */
            schema?: {
                [key: string]: unknown;
            } | null;
            /** @description For an approval: the arguments that it permits. Required there. Default: null. */
            arguments?: {
                [key: string]: unknown;
            } | null;
            /** @description The answer if none comes in time. Never an approval. Default: null. */
            default?: components["schemas"]["NewDefaultAnswer"] | null;
            /** @description Default: 86400. */
            expires_in_seconds?: number | null;
            /** @description Default: continue. */
            on_expiry?: components["schemas"]["OnExpiry"] | null;
        };
        /**
         * @example {
         *       "id": "port-already-in-use",
         *       "title": "The port is already in use",
         *       "content": "## What to do\n\nFind out who listens there: `ss -ltnp`. If it is a server that you left running, stop it; else take another port.",
         *       "patterns": [
         *         "EADDRINUSE",
         *         "address already in use"
         *       ],
         *       "applicability": {
         *         "technologies": [
         *           "node"
         *         ]
         *       },
         *       "severity": "medium"
         *     }
         */
        NewTsg: {
            /**
             * @description Default: made from the title.
             * @example port-already-in-use
             */
            id?: string | null;
            /**
             * @deprecated
             * @description Use `id`.
             * @example port-already-in-use
             */
            tsg_id?: string | null;
            title: string;
            /** @description What to do, in Markdown. */
            content: string;
            /** @description Texts of the failure. One match is enough to announce the guide. */
            patterns: string[];
            /** @description Default: substring. */
            match?: components["schemas"]["TsgMatch"] | null;
            /** @description Where the guide applies. */
            applicability?: components["schemas"]["NewTsgApplicability"] | null;
            /** @description Default: medium. */
            severity?: components["schemas"]["TsgSeverity"] | null;
        };
        NewTsgApplicability: {
            technologies: string[];
        };
        /**
         * @example {
         *       "content": "Leave out the test files."
         *     }
         */
        NewUpdate: {
            /** @description What the agent should know or do from now on. */
            content: string;
            /** @description Default: next_step. */
            delivery?: components["schemas"]["Delivery"] | null;
        };
        NewVerdict: {
            /**
             * Format: uuid
             * @description A criterion of the current brief.
             */
            criterion_id: string;
            verdict: components["schemas"]["PersonVerdict"];
            comment?: string | null;
        };
        /**
         * @example {
         *       "url": "https://example.com/muster",
         *       "events": [
         *         "subtask.completed",
         *         "subtask.failed",
         *         "question.asked"
         *       ],
         *       "description": "The build server"
         *     }
         */
        NewWebhook: {
            /**
             * Format: uri
             * @description Where events are sent to, with POST. Public addresses only, unless operator and project allow more.
             * @example https://example.com/muster
             */
            url: string;
            /** @description The types of events that are sent. */
            events: components["schemas"]["EventPattern"][];
            /**
             * @description Only events of this subject: the id of a subtask, task, schedule or evaluation, or the `tsg_id` of a guide.
             * @example 0198c9b0-0000-7000-8000-00000000000b
             */
            subject?: string | null;
            /**
             * @description Only events of subtasks and slots of this agent.
             * @example docs-writer
             */
            agent_id?: string | null;
            /**
             * @description Only events of work whose parent session this is, or of tasks that it holds.
             * @example research-1
             */
            session_id?: string | null;
            /** @description true: the events of one subject are sent one after the other. Default: false. */
            ordered?: boolean | null;
            description?: string | null;
        };
        /** @enum {string} */
        NoKappaReason: "too_few" | "one_category";
        /**
         * @description default: the default becomes the answer. continue: the run or assignee receives a note that no answer came. fail: the task fails; a subtask is cancelled.
         * @enum {string}
         */
        OnExpiry: "default" | "continue" | "fail";
        /**
         * @description What happens to a slot while an earlier run is still active. skip: the slot passes. allow: it fires too.
         * @enum {string}
         */
        OverlapPolicy: "skip" | "allow";
        /** @enum {string} */
        PartStatus: "ok" | "degraded" | "failed" | "unknown";
        /** @enum {string} */
        PersonVerdict: "met" | "unmet" | "unclear";
        /** @description What a person, or a controller with a key of the project, said. */
        PersonWord: {
            /** @description A verdict on the criterion, the decision of a review, or a quality flag. */
            kind: components["schemas"]["PersonWordKind"];
            value: components["schemas"]["VerdictValue"] | components["schemas"]["ReviewDecision"] | components["schemas"]["Quality"];
            /** @description The comment on the verdict, or the note of the review. */
            comment: string | null;
            /** @description The owner of the credential that made the request. */
            author: components["schemas"]["Reference"];
            /** Format: date-time */
            at: string;
        };
        /** @enum {string} */
        PersonWordKind: "verdict" | "decision" | "flag";
        /** @description An unambiguous phrase, and what it means. */
        PhraseCandidate: {
            phrase: string;
            reading: string;
            next_fire_at: string;
        };
        /**
         * @description Waiting raises the rank of a subtask: one minute equals one level.
         * @enum {string}
         */
        Priority: "low" | "normal" | "high" | "urgent";
        /** @description RFC 9457 problem details. Its extensions depend on `code`. */
        Problem: {
            /** @description URL of the page about this code. */
            type: string;
            title: string;
            /** Format: int64 */
            status: number;
            /** @description What went wrong and what to do, for people. */
            detail: string;
            /** @description Path of the request. */
            instance: string;
            code: components["schemas"]["ErrorCode"];
            /** @description It is in the log of the server. */
            request_id: string;
            /** @description Whether the same request may succeed later. */
            retryable: boolean;
            /** @description `validation_failed` and others: the problems of the input, the first 50 of them. */
            errors?: components["schemas"]["FieldProblem"][];
            /**
             * Format: int64
             * @description How many more problems there are than `errors` has.
             */
            errors_omitted?: number;
            /** @description What else was noticed in an invalid brief. */
            warnings?: components["schemas"]["ProblemWarning"][];
            /** Format: int64 */
            warnings_omitted?: number;
            /**
             * Format: int64
             * @description `revision_required`, `revision_stale`: the current revision.
             */
            revision?: number;
            /** @description `schedule_ambiguous`: what the phrase may mean. */
            candidates?: components["schemas"]["PhraseCandidate"][];
            /** @description `background_mcp_blocked`: the tools that are not available. */
            tools?: string[];
            /** @description The first of `tools`. */
            tool?: string;
            subagent_type?: string;
            /** @description `runner_unavailable`: what the runner lacks. */
            missing?: string[];
            /** @description `runner_unavailable`: the runners that are available. */
            available?: string[];
            /** @description `dependency_cycle`: the ids of the cycle. */
            path?: string[];
            /** @description `tsg_in_use`: some of the tasks that link the guide. */
            task_ids?: string[];
            tsg_id?: string;
            /** @description `spawn_blocked`: the session of the caller. */
            id?: string;
            /** @description The subtask that stands in the way. */
            subtask_id?: string | null;
            /** @description The status that does not allow the request. */
            status_now?: string;
            /** @description The tasks that this one waits for. */
            blocked_by?: string[];
            /** @description Who answered the question before. */
            answered_by?: components["schemas"]["Reference"];
            answered_at?: string;
            /** @description Of the arguments that the approval is about. */
            arguments_digest?: string | null;
            /** @description `forbidden`: the scope that the credential lacks. */
            required_scope?: string;
            /**
             * Format: int64
             * @description `cursor_pruned`: the id of the oldest event that is kept.
             */
            oldest?: number;
            /** @description `pending_limit_reached`, `budget_exhausted`, `quota_exceeded`: the limit. */
            limit?: number;
            /** @description `pending_limit_reached`, `quota_exceeded`: what sets the limit. */
            limited_by?: string;
            agent_id?: string;
            /** @description `budget_exhausted`: which budget. */
            budget?: components["schemas"]["ExhaustedBudget"];
            used?: number;
            /** @description What accepted work may still use. */
            reserved?: number;
            requested?: number;
            /** @description When the budget of a day begins again. */
            resets_at?: string | null;
        };
        /** @description What was changed or ignored in an input that has problems as well. */
        ProblemWarning: {
            field: string;
            message: string;
            timestamp: string;
        };
        /**
         * @example {
         *       "id": "00000000-0000-7000-8000-000000000001",
         *       "name": "default",
         *       "settings": {
         *         "limits": {
         *           "running_per_agent": 5,
         *           "agents": {
         *             "docs-writer": {
         *               "running": 2
         *             }
         *           }
         *         },
         *         "timezone": "America/New_York",
         *         "evaluation": {
         *           "threshold": 0.5
         *         }
         *       },
         *       "created_at": "2026-03-01T09:00:00.000Z"
         *     }
         */
        Project: {
            /** Format: uuid */
            id: string;
            name: string;
            settings: components["schemas"]["ProjectSettings"];
            /** Format: date-time */
            created_at: string;
        };
        /** @description What subtasks and judgements may use; without limits where it is absent */
        ProjectBudget: {
            /** @description For each day, in UTC */
            day?: components["schemas"]["BudgetAmounts"];
            /** @description For all time */
            total?: components["schemas"]["BudgetAmounts"];
            /** @description For each agent that has none of its own */
            per_agent?: components["schemas"]["AgentBudget"];
        };
        ProjectLimits: {
            pending_per_agent?: number;
            running_per_agent?: number;
            /** @description Of all agents together; SUBTASK_PROJECT_MAX_PENDING of the server where it is absent */
            pending?: number;
            /** @description Of all agents together; SUBTASK_PROJECT_MAX_CONCURRENT of the server where it is absent */
            running?: number;
            /**
             * Format: int64
             * @description Bytes that the project may store; PROJECT_STORED_BYTES_CEILING of the server where it is absent
             */
            stored_bytes?: number;
            /**
             * Format: int64
             * @description Bytes that one run may store; RUN_STORED_BYTES_CEILING of the server where it is absent
             */
            run_stored_bytes?: number;
            agents?: {
                [key: string]: components["schemas"]["AgentLimits"];
            };
            budget?: components["schemas"]["ProjectBudget"];
        };
        /**
         * @example {
         *       "settings": {
         *         "limits": {
         *           "pending_per_agent": 100,
         *           "running_per_agent": 5
         *         },
         *         "evaluation": {
         *           "approve_at": 0.85,
         *           "gates": {
         *             "security": true
         *           }
         *         }
         *       }
         *     }
         */
        ProjectPatch: {
            name?: string | null;
            /** @description Replaces the settings as a whole. */
            settings?: components["schemas"]["ProjectSettings"] | null;
        };
        /** @description What is absent is as in the defaults of the server. */
        ProjectSettings: {
            limits?: components["schemas"]["ProjectLimits"];
            /** @description IANA name, for schedules that name none; UTC where it is absent */
            timezone?: string;
            background_mcp?: components["schemas"]["BackgroundMcpPolicy"];
            evaluation?: components["schemas"]["EvaluationSettings"];
            /** @description Uses of tools to ask the parent session about before they are executed, beside those of each definition */
            ask?: string[];
            /** @description Addresses besides the public internet that deliveries may reach, as far as OUTBOUND_ALLOW names them as well */
            outbound_allow?: string[];
            telegram?: components["schemas"]["TelegramSettings"];
            slack?: components["schemas"]["SlackSettings"];
            email?: components["schemas"]["EmailSettings"];
            retention_days?: components["schemas"]["RetentionDays"];
            loops?: components["schemas"]["LoopSettings"];
        };
        PromptSection: string;
        /** @description Other fields as in `Subagent`. */
        PutSubagent: {
            name: string;
            title: string | null;
            description: string;
            model: string;
            tools: string[];
            disallowed_tools: string[];
            ask: string[];
            definition_path: string | null;
            /** Format: int64 */
            version: number;
            source: components["schemas"]["SubagentSource"];
            /** Format: int64 */
            target_latency_ms: number | null;
            /** Format: int64 */
            max_turns: number | null;
            background: boolean;
            mcp_servers: string[];
            skills: string[];
            callback_url: string | null;
            unknown_keys: string[];
            instructions: string;
            /** @description Possible mistakes in the definition. */
            warnings: components["schemas"]["SubagentProblem"][];
        };
        /** @enum {string} */
        Quality: "excellent" | "good" | "needs_work" | "bad";
        QualityFlag: {
            /** Format: uuid */
            task_id: string | null;
            /** Format: uuid */
            subtask_id: string | null;
            /**
             * Format: uuid
             * @description The latest evaluation at the time of the flag.
             */
            evaluation_id: string | null;
            quality: components["schemas"]["Quality"];
            tags: string[];
            /** @description Whether it is a training example: excellent and good make it one, needs_work and bad remove it. */
            training_candidate: boolean;
            /** @description The owner of the credential that made the request. */
            author: components["schemas"]["Reference"];
            /**
             * Format: date-time
             * @description When it was flagged first.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it was flagged last.
             */
            updated_at: string;
        };
        /**
         * @example {
         *       "id": "0198c9a5-11b2-7d4e-8a55-0c9e7d1f3b20",
         *       "question_id": "0198c9a5-11b2-7d4e-8a55-0c9e7d1f3b20",
         *       "kind": "approval",
         *       "subtask_id": "0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47",
         *       "task_id": null,
         *       "session_id": "research-1",
         *       "prompt": "May I push to main?",
         *       "options": null,
         *       "schema": null,
         *       "default": null,
         *       "revision": null,
         *       "arguments": {
         *         "branch": "main"
         *       },
         *       "arguments_digest": "c1a2f0…",
         *       "status": "open",
         *       "expires_at": "2026-03-03T08:00:05.000Z",
         *       "on_expiry": "continue",
         *       "answer": null,
         *       "answered_by": null,
         *       "update_id": null,
         *       "asked_at": "2026-03-02T08:00:05.000Z",
         *       "answered_at": null
         *     }
         */
        Question: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @deprecated
             * @description Use `id`.
             */
            question_id: string;
            kind: components["schemas"]["QuestionKind"];
            /** Format: uuid */
            subtask_id: string | null;
            /** Format: uuid */
            task_id: string | null;
            /** @description The parent session, which finds the question in its inbox. */
            session_id: string | null;
            prompt: string;
            options: components["schemas"]["QuestionOption"][] | null;
            schema: {
                [key: string]: unknown;
            } | null;
            default: components["schemas"]["Answer"] | null;
            /**
             * Format: int64
             * @description The revision of the task when it was asked; null for a subtask without a task.
             */
            revision: number | null;
            arguments: {
                [key: string]: unknown;
            } | null;
            /** @description SHA-256 of the arguments as JSON with sorted keys, in hexadecimal. */
            arguments_digest: string | null;
            status: components["schemas"]["QuestionStatus"];
            /**
             * Format: date-time
             * @description When it expires, unless it is answered.
             */
            expires_at: string;
            on_expiry: components["schemas"]["OnExpiry"];
            answer: components["schemas"]["Answer"] | null;
            /** @description The owner of the credential that answered; null for an expiry. */
            answered_by: components["schemas"]["Reference"] | null;
            /**
             * Format: uuid
             * @description The update that delivers the answer to the run or assignee, with its receipt.
             */
            update_id: string | null;
            /** Format: date-time */
            asked_at: string;
            /** Format: date-time */
            answered_at: string | null;
        };
        /**
         * @description question: asks for an option, a form or a text. approval: asks whether a call with exactly these arguments may be made.
         * @enum {string}
         */
        QuestionKind: "question" | "approval";
        QuestionList: {
            items: components["schemas"]["Question"][];
            next_cursor: string | null;
        };
        QuestionOption: {
            id: string;
            label: string;
            description: string | null;
        };
        /** @enum {string} */
        QuestionStatus: "open" | "answered" | "expired" | "withdrawn";
        /** @description Messages of these hours are sent when they are over. The time zone is that of the project */
        QuietHours: {
            from: string;
            to: string;
        };
        Readiness: {
            status: components["schemas"]["ReadinessStatus"];
            /** @description What is missing; null if ready. */
            reason: string | null;
            /** @description Each part that serving rests on. All of them are always there. */
            parts: components["schemas"]["ReadinessParts"];
        };
        ReadinessPart: {
            /** @description `failed` makes the process not ready. `degraded` does not, but needs an operator. `unknown`: another part failed before. */
            status: components["schemas"]["PartStatus"];
            /** @description What is wrong and what to do; null if nothing is known to be. */
            detail: string | null;
        };
        ReadinessParts: {
            process: components["schemas"]["ReadinessPart"];
            database: components["schemas"]["ReadinessPart"];
            migrations: components["schemas"]["ReadinessPart"];
            writes: components["schemas"]["ReadinessPart"];
            queues: components["schemas"]["ReadinessPart"];
            relay: components["schemas"]["ReadinessPart"];
            partitions: components["schemas"]["ReadinessPart"];
            history: components["schemas"]["ReadinessPart"];
        };
        /** @enum {string} */
        ReadinessStatus: "ready" | "not_ready";
        /**
         * @example {
         *       "reason": "The customer has withdrawn the request."
         *     }
         */
        Reason: {
            /** @description Stored in `last_error`. */
            reason: string;
        };
        /**
         * @description A webhook, the callback of one subtask or task, or a channel of the project.
         * @enum {string}
         */
        ReceiverKind: "webhook" | "callback" | "telegram" | "slack" | "email";
        /** @enum {string} */
        Recommendation: "approve" | "review" | "request_revision";
        RecommendationCounts: {
            /** Format: int64 */
            approve: number;
            /** Format: int64 */
            review: number;
            /** Format: int64 */
            request_revision: number;
        };
        Reference: {
            /** @description Such as `key`, `open`, `session`, `subtask`, `task`, `worker` or `muster`. */
            kind: string;
            id: string;
            /** @description Of a sender: the name of the API key, or the session that a caller without a key named. */
            name?: string | null;
        };
        /** @description The agent’s reflection on its own work, from all reflection blocks. */
        Reflection: {
            /** @description In order. At most the first 200 negative and the first 200 other items. */
            items: components["schemas"]["ReflectionItem"][];
            /**
             * Format: int64
             * @description The total number of items.
             */
            item_count: number;
            /** @description The score of the reflections only. */
            score: number | null;
            /** @description The number of items per category. */
            categories: {
                [key: string]: number;
            };
        };
        ReflectionItem: {
            emoji: string;
            /** @description Null for an unknown emoji. */
            category: string | null;
            text: string;
            /** @description The weight in the score; 0: it does not count. */
            weight: number;
        };
        /**
         * @example {
         *       "lease_token": "mlt_9YkR…"
         *     }
         */
        ReleaseRequest: {
            /** @description `lease.token` of the claim. */
            lease_token: string;
        };
        /**
         * @description in_review: a task whose outputs wait for a review. blocked: a task whose assignee went in circles, with the evidence in `error`. open, answered, expired, withdrawn: the state of a question.
         * @enum {string}
         */
        ReportedStatus: "completed" | "failed" | "cancelled" | "in_review" | "blocked" | "open" | "answered" | "expired" | "withdrawn";
        RequiredOutput: {
            name: string;
            description: string | null;
            /** @description JSON Schema 2020-12 of the value. */
            schema: {
                [key: string]: unknown;
            } | null;
        };
        /** @description Days for which things are kept; RETENTION_DAYS of the server where it is absent */
        RetentionDays: {
            events?: number;
            steps?: number;
            inbox?: number;
            deliveries?: number;
            messages?: number;
            subtasks?: number;
            folders?: number;
        };
        /** @enum {string} */
        ReviewDecision: "approve" | "request_revision";
        /**
         * @description Who reviews the submitted outputs: none, auto (the evaluation), or manual (a person or controller).
         * @enum {string}
         */
        ReviewMode: "none" | "auto" | "manual";
        RevisedTask: {
            task: components["schemas"]["Task"];
            /**
             * Format: uuid
             * @description The update for the assignee. Null if nothing that the brief shows has changed.
             */
            update_id: string | null;
            /** Format: int64 */
            revision: number;
            diff: components["schemas"]["BriefDiff"];
        };
        Runner: {
            name: string;
            available: boolean;
            /** @description True for the runner of a subtask that names no runner and no sub-agent. */
            default: boolean;
            /** @description True for the runner of a sub-agent whose caller names none. */
            default_for_subagents: boolean;
            /** @description Whether it applies the definition of a sub-agent. Only such runners run sub-agents. */
            follows_definitions: boolean;
            /** @description What the operator must install or set before the runner is available. */
            missing: string[];
            /** @description Whether updates reach a subtask that is already running. */
            steerable: boolean;
            /** @description For claude-code: the version of the program, once known. */
            version?: string;
            /** @description What of a run is confined: the whole program, the commands that its model runs, or nothing. */
            sandbox: components["schemas"]["RunnerSandbox"];
            /** @description Why nothing is confined, where something could be. See docs/sandbox.md. */
            sandbox_problem?: string;
            /** @description What everything in one sandbox may use together. Absent where nothing is confined. */
            sandbox_limits?: components["schemas"]["SandboxLimits"];
        };
        RunnerList: {
            items: components["schemas"]["Runner"][];
        };
        /** @enum {string} */
        RunnerSandbox: "program" | "commands" | "none";
        SandboxLimits: {
            /**
             * Format: int64
             * @description Null: not limited.
             */
            memory_bytes: number | null;
            /**
             * Format: int64
             * @description Processes and threads at once. Null: not limited.
             */
            processes: number | null;
            /** @description Which setting does not hold on this machine, and why. */
            problem: string | null;
        };
        ScannedTsg: {
            id: string;
            /**
             * @deprecated
             * @description Use `id`.
             */
            tsg_id: string;
            title: string;
            severity: components["schemas"]["TsgSeverity"];
            /** @description The longest matching pattern. */
            matched_pattern: string;
            /** @description The share of feedback that says the guide helped; null without feedback. */
            success_rate: number | null;
        };
        /**
         * @example {
         *       "id": "0198c9c0-2b40-7d15-b7a1-6f0e9d2c4a58",
         *       "agent_id": "default",
         *       "task": "Inspect packages and report.",
         *       "schedule_type": "recurring",
         *       "phrase": "weekdays at 9 ET",
         *       "canonical": "every weekday at 09:00 America/New_York",
         *       "reading": "Every weekday at 09:00, America/New_York",
         *       "timezone": "America/New_York",
         *       "fire_at": null,
         *       "interval_seconds": null,
         *       "cron_expr": "0 9 * * 1,2,3,4,5",
         *       "rule": "DTSTART;TZID=America/New_York:20260302T090000\nRRULE:FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR;BYHOUR=9;BYMINUTE=0;BYSECOND=0",
         *       "anchor_at": "2026-03-02T08:00:00.000Z",
         *       "next_fire_at": "2026-03-02T14:00:00.000Z",
         *       "upcoming": [
         *         "2026-03-02T14:00:00.000Z",
         *         "2026-03-03T14:00:00.000Z",
         *         "2026-03-04T14:00:00.000Z",
         *         "2026-03-05T14:00:00.000Z",
         *         "2026-03-06T14:00:00.000Z"
         *       ],
         *       "warnings": [],
         *       "state": "active",
         *       "active": true,
         *       "fire_count": 0,
         *       "max_fires": null,
         *       "last_fired_at": null,
         *       "overlap": "skip",
         *       "missed": "run_once",
         *       "grace_seconds": 60,
         *       "notify": true,
         *       "timeout_seconds": 120,
         *       "priority": "normal",
         *       "subagent": null,
         *       "runner": "scout",
         *       "model": null,
         *       "budget": {
         *         "max_steps": 50,
         *         "max_tokens": null,
         *         "max_cost_usd": null
         *       },
         *       "parent_session_id": "research-1",
         *       "metadata": {},
         *       "created_by_session_id": "research-1",
         *       "created_by_session": "research-1",
         *       "created_at": "2026-03-02T08:00:00.000Z",
         *       "updated_at": "2026-03-02T08:00:00.000Z"
         *     }
         */
        Schedule: {
            /** Format: uuid */
            id: string;
            agent_id: string;
            task: string;
            schedule_type: components["schemas"]["ScheduleType"];
            /** @description As it was sent. */
            phrase: string;
            /** @description A phrase for the same field that reads as the same rule. */
            canonical: string;
            /** @description How the phrase was understood, in words. */
            reading: string;
            timezone: string;
            /**
             * Format: date-time
             * @description Of one that fires once: when.
             */
            fire_at: string | null;
            /**
             * Format: int64
             * @description For an interval: elapsed seconds between two firings.
             */
            interval_seconds: number | null;
            /** @description The rule as a five-field cron expression; null if cron cannot express it. */
            cron_expr: string | null;
            /** @description The rule as DTSTART and RRULE (RFC 5545); null for intervals and one-time schedules. */
            rule: string | null;
            /**
             * Format: date-time
             * @description Where counting begins.
             */
            anchor_at: string;
            /**
             * Format: date-time
             * @description When it is due next.
             */
            next_fire_at: string | null;
            /** @description The next five times. */
            upcoming: string[];
            /** @description How details were decided that the phrase left open. */
            warnings: components["schemas"]["ScheduleWarning"][];
            /** @description Only an active schedule fires. finished and deactivated are final. */
            state: components["schemas"]["ScheduleState"];
            /** @description Whether its state is active. */
            active: boolean;
            /**
             * Format: int64
             * @description The number of fired slots. Triggered runs do not count.
             */
            fire_count: number;
            /** Format: int64 */
            max_fires: number | null;
            /**
             * Format: date-time
             * @description When a slot last fired.
             */
            last_fired_at: string | null;
            overlap: components["schemas"]["OverlapPolicy"];
            missed: components["schemas"]["MissedPolicy"];
            /** Format: int64 */
            grace_seconds: number;
            notify: boolean;
            /** Format: int64 */
            timeout_seconds: number;
            priority: components["schemas"]["Priority"];
            /** @description The sub-agent of each run, in its then current version. */
            subagent: string | null;
            runner: string;
            model: string | null;
            budget: components["schemas"]["Budget"];
            /** @description The session whose inbox receives the results; null: no inbox receives them. */
            parent_session_id: string | null;
            metadata: {
                [key: string]: unknown;
            };
            /** @description The session that created it. */
            created_by_session_id: string | null;
            /**
             * @deprecated
             * @description Use `created_by_session_id`.
             */
            created_by_session: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When it last changed or fired.
             */
            updated_at: string;
        };
        /** @enum {string} */
        ScheduleFilter: "true" | "false" | "all";
        ScheduleFirings: {
            /** @description In order. */
            firings: string[];
            /** @description More would come until then. */
            is_cut: boolean;
        };
        ScheduleList: {
            items: components["schemas"]["Schedule"][];
            next_cursor: string | null;
        };
        /**
         * @description Only the fields to change. Null removes a field or resets it to its default. Other fields as in `NewSchedule`.
         * @example {
         *       "every": "weekdays at 10 ET",
         *       "max_fires": 20
         *     }
         */
        SchedulePatch: {
            task?: string | null;
            /**
             * @example in 90 minutes
             * @example tomorrow at noon
             * @example 2026-03-10T09:00:00-05:00
             */
            when?: string | null;
            /**
             * @example 30 minutes
             * @example weekdays at 9 ET
             * @example first monday of the month at 9am
             */
            every?: string | null;
            /** @example 0 9 * * 1-5 */
            cron?: string | null;
            /** @example America/New_York */
            timezone?: string | null;
            /**
             * @description The agent whose limits it counts against. A key bound to an agent overrides it.
             * @example default
             */
            agent_id?: string | null;
            notify?: boolean | null;
            /** Format: int64 */
            timeout_seconds?: number | null;
            priority?: components["schemas"]["Priority"] | null;
            /**
             * @description The sub-agent to run, in the background.
             * @example memory-specialist
             */
            subagent?: string | null;
            runner?: string | null;
            model?: string | null;
            /** @description The budget of each run. Replaces the whole budget. */
            budget?: components["schemas"]["NewBudget"] | null;
            /** @description A value that is not above `fire_count` finishes the schedule. */
            max_fires?: number | null;
            overlap?: components["schemas"]["OverlapPolicy"] | null;
            missed?: components["schemas"]["MissedPolicy"] | null;
            /** @description Seconds that a slot may fire late before it counts as missed. */
            grace_seconds?: number | null;
            /** @example research-1 */
            parent_session_id?: string | null;
            /** @description Where the end of each run is sent to from now on; null: nowhere. A merge patch without `secret` keeps the secret; `secret: null` removes it. */
            callback?: components["schemas"]["Callback"] | null;
            /** @description Your own data, at most 16 KiB as JSON. */
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description Other fields as in `Schedule`. */
        SchedulePreview: {
            schedule_type: components["schemas"]["ScheduleType"];
            phrase: string;
            canonical: string;
            reading: string;
            timezone: string;
            /** Format: date-time */
            fire_at: string | null;
            /** Format: int64 */
            interval_seconds: number | null;
            cron_expr: string | null;
            rule: string | null;
            /** Format: date-time */
            anchor_at: string;
            /** Format: date-time */
            next_fire_at: string | null;
            upcoming: string[];
            warnings: components["schemas"]["ScheduleWarning"][];
        };
        /**
         * @description The body of a creation, and the time at which to read the phrase. Other fields as in `NewSchedule`.
         * @example {
         *       "task": "Inspect packages and report.",
         *       "every": "weekdays at 9 ET",
         *       "parent_session_id": "research-1",
         *       "from": "2026-03-02T08:00:00.000Z"
         *     }
         */
        SchedulePreviewRequest: {
            task?: string | null;
            /**
             * @example in 90 minutes
             * @example tomorrow at noon
             * @example 2026-03-10T09:00:00-05:00
             */
            when?: string | null;
            /**
             * @example 30 minutes
             * @example weekdays at 9 ET
             * @example first monday of the month at 9am
             */
            every?: string | null;
            /** @example 0 9 * * 1-5 */
            cron?: string | null;
            /** @example America/New_York */
            timezone?: string | null;
            /** @example default */
            agent_id?: string | null;
            notify?: boolean | null;
            /** Format: int64 */
            timeout_seconds?: number | null;
            priority?: components["schemas"]["Priority"] | null;
            /** @example memory-specialist */
            subagent?: string | null;
            runner?: string | null;
            model?: string | null;
            budget?: components["schemas"]["NewBudget"] | null;
            max_fires?: number | null;
            overlap?: components["schemas"]["OverlapPolicy"] | null;
            missed?: components["schemas"]["MissedPolicy"] | null;
            grace_seconds?: number | null;
            /** @example research-1 */
            parent_session_id?: string | null;
            callback?: components["schemas"]["Callback"] | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description The time at which to read the phrase. Default: now.
             */
            from?: string | null;
        };
        ScheduleRun: {
            /**
             * Format: date-time
             * @description When it was due; of a triggered one, when it was asked for.
             */
            slot: string;
            /**
             * Format: date-time
             * @description When its subtask was made.
             */
            fired_at: string | null;
            /** @description waiting: the queue of its agent is full; the slot fires as soon as there is room. All other outcomes are final. */
            outcome: components["schemas"]["SlotOutcome"];
            /** @description Whether the run was triggered by hand. */
            manual: boolean;
            /** Format: uuid */
            subtask_id: string | null;
        };
        ScheduleRunList: {
            items: components["schemas"]["ScheduleRun"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        ScheduleState: "active" | "paused" | "finished" | "deactivated";
        /** @enum {string} */
        ScheduleType: "once" | "recurring";
        ScheduleWarning: {
            code: string;
            message: string;
        };
        /**
         * @description What a credential may do. `admin` may do everything in its project.
         * @enum {string}
         */
        Scope: "subtasks:read" | "subtasks:write" | "subtasks:claim" | "tasks:read" | "tasks:write" | "sessions:write" | "schedules:read" | "schedules:write" | "evaluations:read" | "evaluations:write" | "subagents:read" | "subagents:write" | "subagents:spawn" | "tsgs:read" | "tsgs:write" | "memory:read" | "memory:write" | "events:read" | "webhooks:write" | "admin";
        /**
         * @example {
         *       "overlap_seconds": 86400
         *     }
         */
        SecretRotation: {
            /** @description For so long, deliveries have a second signature by the secret before. 0 if it has leaked. Default: 86400. */
            overlap_seconds?: number | null;
        };
        SentPrompt: {
            /** Format: int64 */
            attempt: number;
            /** @description The instructions above the conversation; null if the runner gives its program one text. */
            system: string | null;
            /** @description The first message of the attempt; null if it goes on with the result of a tool. */
            message: string | null;
            /** @description The attempt goes on after a wait. The transcript has the conversation between `system` and `message`. */
            is_continued: boolean;
            /** @description A text was longer than the 256 KiB that are kept of it. */
            is_cut: boolean;
            /** Format: date-time */
            at: string;
        };
        SentPromptList: {
            items: components["schemas"]["SentPrompt"][];
            next_cursor: string | null;
        };
        ShortenedField: {
            /** @description The field. It is null in this answer. */
            field: string;
            /** @description The first 2,000 characters of the value; of an object, as JSON. */
            beginning: string;
            /**
             * Format: int64
             * @description Length of the whole value, in bytes of UTF-8.
             */
            bytes: number;
            /** @description The request or the tool call that returns the whole value. */
            whole_at: string;
        };
        SlackSettings: {
            /** @description An incoming webhook. It is stored encrypted and never shown; absent later: it stays as it is */
            webhook_url?: string;
            /** @description What is reported. A subtask or schedule with `notify: false` is not. */
            on: components["schemas"]["MessageOccasion"][];
            quiet_hours?: components["schemas"]["QuietHours"];
            /** @description What is reported within so many minutes becomes one message, but for questions. */
            digest_minutes?: number;
        };
        /** @enum {string} */
        SlotOutcome: "waiting" | "fired" | "skipped_overlap" | "skipped_missed" | "skipped_paused";
        SpawnResult: {
            /** @description Whether the subtask completed. True while it has not ended. */
            success: boolean;
            subagent_type: string;
            /** @description The summary of the result, otherwise the result, cut to 4,000 characters. Null until the end. */
            summary: string | null;
            /**
             * Format: int64
             * @description As of the subtask; 0 until it has ended.
             */
            duration_ms: number;
            background: boolean;
            /** @description Why the subtask did not complete. */
            error: string | null;
            /** Format: uuid */
            subtask_id: string;
            runner: string;
            /** @description Why this runner, in one sentence. */
            runner_reason?: string;
            /** @description Tools that the definition lists and this run does not have. */
            warnings: string[];
        };
        /** @enum {string} */
        StatsGrouping: "day" | "subagent" | "criterion" | "agreement";
        Step: {
            /**
             * Format: int64
             * @description Position in the transcript of the subtask, over all attempts.
             */
            seq: number;
            /** Format: int64 */
            attempt: number;
            kind: components["schemas"]["StepKind"];
            content: unknown;
            /** Format: date-time */
            at: string;
        };
        /** @enum {string} */
        StepKind: "message" | "tool_call" | "tool_result" | "update" | "error";
        StepList: {
            items: components["schemas"]["Step"][];
            next_cursor: string | null;
        };
        StoredByRun: {
            /**
             * Format: uuid
             * @description A subtask, or a task that was assigned.
             */
            id: string;
            /** Format: int64 */
            bytes: number;
        };
        StoredBytes: {
            /**
             * Format: int64
             * @description What the project stores: texts before compression, with a fixed charge a row.
             */
            bytes: number;
            /**
             * Format: int64
             * @description How much it may store. Beyond it, what would be stored is refused with `quota_exceeded`.
             */
            limit_bytes: number;
            /**
             * Format: int64
             * @description How much one run may store.
             */
            run_limit_bytes: number;
            /** @description The runs under way that have stored most. At most 10. */
            runs: components["schemas"]["StoredByRun"][];
        };
        /**
         * @example {
         *       "name": "memory-specialist",
         *       "title": null,
         *       "description": "Answers from memory, quickly.",
         *       "model": "haiku",
         *       "tools": [
         *         "Read",
         *         "Grep",
         *         "recall_deep",
         *         "learn_fact"
         *       ],
         *       "disallowed_tools": [],
         *       "ask": [],
         *       "definition_path": null,
         *       "version": 1,
         *       "source": "api",
         *       "target_latency_ms": 500,
         *       "max_turns": null,
         *       "background": false,
         *       "mcp_servers": [],
         *       "skills": [],
         *       "callback_url": null,
         *       "unknown_keys": [],
         *       "instructions": "Answer from what is remembered, in at most three sentences.",
         *       "runner": "ai",
         *       "warnings": []
         *     }
         */
        Subagent: {
            name: string;
            /** @description The original name, if it was changed to a valid one. */
            title: string | null;
            /** @description What the sub-agent is for. Callers choose a sub-agent by this text. */
            description: string;
            /** @description haiku, sonnet, opus, `inherit` (the default of the runner), or the name of a provider’s model. */
            model: string;
            /** @description Allowed tools, as rules: `Read`, `Bash(git:*)`, `mcp__server__*`; `*` allows every tool. */
            tools: string[];
            /** @description Denied tools. They take precedence over `tools`. */
            disallowed_tools: string[];
            /** @description Uses of tools that are asked about before they are executed. */
            ask: string[];
            definition_path: string | null;
            /**
             * Format: int64
             * @description The version that a run started now would use.
             */
            version: number;
            source: components["schemas"]["SubagentSource"];
            /**
             * Format: int64
             * @description The target duration; the run is not stopped.
             */
            target_latency_ms: number | null;
            /**
             * Format: int64
             * @description The maximum number of model requests of one run.
             */
            max_turns: number | null;
            /** @description Whether it always runs in the background. */
            background: boolean;
            mcp_servers: string[];
            skills: string[];
            /** @description Where the end of each run is sent to that names no callback itself. Its secret is not shown. */
            callback_url: string | null;
            /** @description Front matter keys that Muster does not use. They are kept. */
            unknown_keys: string[];
            instructions: string;
            /** @description The runner of a run that names none; null if no runner can run sub-agents. */
            runner: string | null;
            /** @description Tools that the definition lists and a run by that runner does not have. */
            warnings: string[];
        };
        SubagentImport: {
            /** @description A row for each Markdown file, in the order of the collection. */
            items: components["schemas"]["SubagentImportRow"][];
            /**
             * Format: int64
             * @description The number of imported definitions, including renamed ones.
             */
            imported: number;
            /** Format: int64 */
            renamed: number;
            /** Format: int64 */
            refused: number;
            /** Format: int64 */
            ignored: number;
        };
        /**
         * @description imported: stored. renamed: stored under a valid form of its name; `title` keeps the original. refused: see `errors`. ignored: a Markdown file that defines no sub-agent.
         * @enum {string}
         */
        SubagentImportOutcome: "imported" | "renamed" | "refused" | "ignored";
        SubagentImportRow: {
            /** @description The path of the file in the collection. */
            path: string;
            outcome: components["schemas"]["SubagentImportOutcome"];
            /** @description The name of the sub-agent; null if the file has none. */
            name: string | null;
            /** @description The original name of a renamed definition. */
            title: string | null;
            /**
             * Format: int64
             * @description The version that a run started now would use; null if the file was not imported.
             */
            version: number | null;
            /** @description Why the file was refused. */
            errors: components["schemas"]["SubagentProblem"][];
            /** @description Possible mistakes in the definition. */
            warnings: components["schemas"]["SubagentProblem"][];
        };
        SubagentList: {
            items: components["schemas"]["SubagentSummary"][];
            next_cursor: string | null;
            /** @description All unusable files, on every page. */
            broken: components["schemas"]["BrokenSubagent"][];
        };
        /**
         * @description Front matter as in Claude Code with the instructions below, or the sections `## Role`, `## Model`, `## Allowed Tools`, `## Protocol`.
         * @example ---
         *     description: Answers from memory, quickly.
         *     model: haiku
         *     tools: Read, Grep, recall_deep, learn_fact
         *     target_latency_ms: 500
         *     ---
         *
         *     Answer from what is remembered, in at most three sentences.
         */
        SubagentMarkdown: string;
        SubagentProblem: {
            /**
             * Format: int64
             * @description The line in the text, starting at 1.
             */
            line: number;
            field: string;
            pointer: string;
            reason: string;
        };
        SubagentRef: {
            name: string;
            /** Format: int64 */
            version: number;
        };
        /**
         * @description For one name, the API takes precedence over files, and files over built-in definitions.
         * @enum {string}
         */
        SubagentSource: "file" | "api" | "builtin";
        /**
         * @description Other fields as in `NewSubtask`.
         * @example {
         *       "prompt": "What is known of the release of 2 March?",
         *       "description": "Look up the release",
         *       "run_in_background": false
         *     }
         */
        SubagentSpawn: {
            /** @description The instructions, complete: the sub-agent has only its definition besides. */
            prompt: string;
            /** @description For people; stored as `metadata.description` of the subtask. */
            description: string;
            /** @description Overrides the model of the definition. */
            model?: string | null;
            /** @description Return without waiting. In the background, only Muster’s own MCP tools are available. Default: false. */
            run_in_background?: boolean | null;
            /**
             * Format: uuid
             * @description An ended subtask of the same sub-agent that the new one continues.
             */
            resume?: string | null;
            /** @description Seconds to wait for the end. Default: 60, in the background 0. */
            wait_seconds?: number | null;
            /**
             * @description The agent on whose behalf it runs. Default: that of `resume`, else `default`.
             * @example default
             */
            agent_id?: string | null;
            /** @example research-1 */
            parent_session_id?: string | null;
            /** Format: int64 */
            timeout_seconds?: number | null;
            runner?: string | null;
            callback?: components["schemas"]["Callback"] | null;
        };
        /** @description Other fields as in `Subagent`. */
        SubagentSummary: {
            name: string;
            title: string | null;
            description: string;
            model: string;
            tools: string[];
            disallowed_tools: string[];
            ask: string[];
            definition_path: string | null;
            /** Format: int64 */
            version: number;
            source: components["schemas"]["SubagentSource"];
            /** Format: int64 */
            target_latency_ms: number | null;
            /** Format: int64 */
            max_turns: number | null;
            background: boolean;
            mcp_servers: string[];
            skills: string[];
            callback_url: string | null;
            unknown_keys: string[];
        };
        /**
         * @example {
         *       "id": "0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47",
         *       "agent_id": "default",
         *       "session_id": "subtask-0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47",
         *       "parent_session_id": "research-1",
         *       "task": "List the public functions of src/ with one sentence each.",
         *       "task_id": null,
         *       "task_revision": null,
         *       "schedule_id": null,
         *       "subagent": null,
         *       "background": true,
         *       "priority": "normal",
         *       "status": "pending",
         *       "final_outcome": null,
         *       "result": null,
         *       "result_truncated": false,
         *       "summary": null,
         *       "error": null,
         *       "outputs": null,
         *       "required_outputs": [],
         *       "worker_id": null,
         *       "attempt": 0,
         *       "failures": 0,
         *       "max_attempts": 2,
         *       "timeout_seconds": 120,
         *       "budget": {
         *         "max_steps": 50,
         *         "max_tokens": null,
         *         "max_cost_usd": null
         *       },
         *       "notify": true,
         *       "runner": "scout",
         *       "model": null,
         *       "usage": {
         *         "input_tokens": 0,
         *         "output_tokens": 0,
         *         "cost_usd": 0,
         *         "steps": 0,
         *         "tool_calls": 0
         *       },
         *       "resume_of": null,
         *       "revision_of": null,
         *       "revision_round": 0,
         *       "max_revisions": 0,
         *       "evaluation": null,
         *       "duration_ms": null,
         *       "lost_ms": 0,
         *       "waiting_for": null,
         *       "waited_ms": 0,
         *       "created_at": "2026-03-02T08:00:00.000Z",
         *       "started_at": null,
         *       "completed_at": null,
         *       "cancel_requested_at": null,
         *       "metadata": {
         *         "ticket": "DOC-12"
         *       }
         *     }
         */
        Subtask: {
            /** Format: uuid */
            id: string;
            agent_id: string;
            /** @description The session of the subtask itself: `subtask-<id>`. */
            session_id: string;
            /** @description The session whose inbox receives the result. */
            parent_session_id: string | null;
            task: string;
            /** Format: uuid */
            task_id: string | null;
            /** Format: int64 */
            task_revision: number | null;
            /** Format: uuid */
            schedule_id: string | null;
            subagent: components["schemas"]["SubagentRef"] | null;
            background: boolean;
            priority: components["schemas"]["Priority"];
            status: components["schemas"]["SubtaskStatus"];
            /** @description Null until the subtask has ended. */
            final_outcome: components["schemas"]["FinalOutcome"] | null;
            /** @description Null before the end, if there is no result, and if it is named in `shortened`. */
            result: string | null;
            /** @description True if the result was longer than 1 MiB and was cut. */
            result_truncated: boolean;
            summary: string | null;
            /** @description Why the subtask did not complete. */
            error: string | null;
            outputs: {
                [key: string]: unknown;
            } | null;
            /** @description Only in lists: `result` and `outputs` where they are longer than 2,000 characters. */
            shortened?: components["schemas"]["ShortenedField"][];
            required_outputs: components["schemas"]["RequiredOutput"][];
            worker_id: string | null;
            /**
             * Format: int64
             * @description The number of claims so far.
             */
            attempt: number;
            /**
             * Format: int64
             * @description The number of attempts that failed.
             */
            failures: number;
            /** Format: int64 */
            max_attempts: number;
            /** Format: int64 */
            timeout_seconds: number;
            budget: components["schemas"]["Budget"];
            /** @description Whether the result goes into the inbox of the parent session. */
            notify: boolean;
            runner: string;
            /** @description Why this runner was chosen. Only in the answer that accepts the subtask. */
            runner_reason?: string;
            /** @description Tools that the definition lists and this run does not have. Only in the answer that accepts the subtask. */
            warnings?: string[];
            model: string | null;
            usage: components["schemas"]["Usage"];
            /**
             * Format: uuid
             * @description The ended subtask of the same sub-agent that this one continues.
             */
            resume_of: string | null;
            /**
             * Format: uuid
             * @description The previous subtask of the chain, whose result has to be revised.
             */
            revision_of: string | null;
            /**
             * Format: int64
             * @description The revision round: 0 for the first subtask of a chain.
             */
            revision_round: number;
            /**
             * Format: int64
             * @description How many revision rounds may follow the first subtask.
             */
            max_revisions: number;
            evaluation: components["schemas"]["EvaluationRef"] | null;
            /**
             * Format: int64
             * @description From the start of the first attempt to the end, without `lost_ms` and `waited_ms`. Null until the subtask has ended.
             */
            duration_ms: number | null;
            /**
             * Format: int64
             * @description Milliseconds during which no live worker held the subtask while it ran.
             */
            lost_ms: number;
            /**
             * Format: uuid
             * @description The question whose answer it waits for, in status `waiting`.
             */
            waiting_for: string | null;
            /**
             * Format: int64
             * @description Milliseconds that it waited for answers, without the present wait.
             */
            waited_ms: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When its first attempt began.
             */
            started_at: string | null;
            /** Format: date-time */
            completed_at: string | null;
            /**
             * Format: date-time
             * @description When cancellation was requested while the subtask ran.
             */
            cancel_requested_at: string | null;
            metadata: {
                [key: string]: unknown;
            };
        };
        SubtaskList: {
            items: components["schemas"]["Subtask"][];
            next_cursor: string | null;
        };
        /**
         * @description completed, failed and cancelled are final.
         * @enum {string}
         */
        SubtaskStatus: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled";
        /**
         * @example {
         *       "id": "0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31",
         *       "title": "Document the public functions",
         *       "instructions": "List the public functions of src/ with one sentence each.",
         *       "description": null,
         *       "status": "pending",
         *       "revision": 1,
         *       "priority": "high",
         *       "acceptance_criteria": [
         *         {
         *           "id": "0198c9b1-4c01-7000-8000-000000000001",
         *           "text": "Every exported function is listed",
         *           "source": "acceptance",
         *           "required": true,
         *           "state": "open"
         *         }
         *       ],
         *       "required_outputs": [
         *         {
         *           "name": "functions",
         *           "description": null,
         *           "schema": null
         *         }
         *       ],
         *       "completion_outputs": null,
         *       "summary": null,
         *       "tsgs": [],
         *       "parent_session_id": "research-1",
         *       "subagent_session_id": null,
         *       "depends_on": [],
         *       "blocked_by": [],
         *       "task_context": null,
         *       "validation": {
         *         "performed": true,
         *         "warnings": []
         *       },
         *       "review": "none",
         *       "client_cwd": null,
         *       "workspace": "/var/lib/muster/tasks/0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31",
         *       "budget": null,
         *       "metadata": {},
         *       "next_steps": [],
         *       "last_error": null,
         *       "created_at": "2026-03-02T08:00:00.000Z",
         *       "updated_at": "2026-03-02T08:00:00.000Z",
         *       "completed_at": null
         *     }
         */
        Task: {
            /** Format: uuid */
            id: string;
            title: string;
            instructions: string;
            /** @description Set if the task was created with a description. */
            description: string | null;
            status: components["schemas"]["TaskStatus"];
            /**
             * Format: int64
             * @description Increases with every change of the brief. Also in `ETag`.
             */
            revision: number;
            priority: components["schemas"]["Priority"];
            /** @description Acceptance criteria, success criteria and strict constraints. */
            acceptance_criteria: components["schemas"]["Criterion"][];
            required_outputs: components["schemas"]["RequiredOutput"][];
            completion_outputs: {
                [key: string]: unknown;
            } | null;
            summary: string | null;
            tsgs: components["schemas"]["LinkedTsg"][];
            parent_session_id: string | null;
            /** @description The session that holds the task. */
            subagent_session_id: string | null;
            depends_on: string[];
            /** @description The tasks in depends_on that are not completed. */
            blocked_by: string[];
            task_context: components["schemas"]["TaskContext"] | null;
            validation: components["schemas"]["TaskValidation"];
            review: components["schemas"]["ReviewMode"];
            /** @description The folder that relative paths start at. */
            client_cwd: string | null;
            /** @description The task’s own folder on the server. */
            workspace: string | null;
            /** @description Null: any amount. */
            budget: components["schemas"]["TaskBudget"] | null;
            metadata: {
                [key: string]: unknown;
            };
            /** @description The next steps that the assignee named in its latest check-in with next steps. */
            next_steps: string[];
            /** @description Why the task failed, was cancelled, or returned from the subtask that ran it. */
            last_error: string | null;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When anything about it changed last.
             */
            updated_at: string;
            /** Format: date-time */
            completed_at: string | null;
        };
        /** @description What all subtasks and judgements of a task may use together; null for any amount. */
        TaskBudget: {
            /** Format: int64 */
            max_tokens: number | null;
            max_cost_usd: number | null;
        };
        TaskCheckIn: {
            /** Format: uuid */
            id: string;
            /** Format: uuid */
            task_id: string;
            /** @description The session that reports. Null if it is not known. */
            session_id: string | null;
            /**
             * Format: int64
             * @description The revision with the criteria that it reports on.
             */
            revision: number;
            /** @description The criteria that it says something of. */
            criteria: components["schemas"]["CheckedInCriterion"][];
            /** @description Lines that match no criterion, or more than one. */
            unmatched: string[];
            next_steps: string[];
            /** @description The owner of the credential that made the request. */
            author: components["schemas"]["Reference"];
            /** Format: date-time */
            created_at: string;
        };
        TaskCheckInList: {
            items: components["schemas"]["TaskCheckIn"][];
            next_cursor: string | null;
        };
        /**
         * @example {
         *       "outputs": {
         *         "functions": [
         *           {
         *             "name": "parse",
         *             "does": "Reads a file."
         *           }
         *         ]
         *       },
         *       "summary": "All 12 functions are listed."
         *     }
         */
        TaskCompletion: {
            /** @description By name; at least the required outputs, more are stored too. */
            outputs: {
                [key: string]: unknown;
            };
            summary?: string | null;
        };
        TaskConstraints: {
            rules: string[];
            enforcement_level: components["schemas"]["EnforcementLevel"];
        };
        /** @description The context of a task. Parts that were not sent are left out. */
        TaskContext: {
            background_context?: string;
            expected_deliverables?: components["schemas"]["TaskDeliverables"];
            success_criteria?: components["schemas"]["TaskSuccessCriteria"];
            constraints?: components["schemas"]["TaskConstraints"];
            relevant_files?: string[];
            related_documentation?: string[];
            file_checks?: components["schemas"]["FileCheck"][];
            validation_performed: boolean;
            validation_timestamp: string;
            validation_warnings: string[];
        };
        TaskDeliverables: {
            items: string[];
            validation_added: string;
        };
        /**
         * @description Other fields as in `NewSubtask`.
         * @example {
         *       "runner": "scout",
         *       "timeout_seconds": 300,
         *       "max_revisions": 2
         *     }
         */
        TaskDispatch: {
            /** @example default */
            agent_id?: string | null;
            /** @description Default: that of the task. */
            priority?: components["schemas"]["Priority"] | null;
            /** Format: int64 */
            timeout_seconds?: number | null;
            notify?: boolean | null;
            /**
             * @description The session whose inbox receives the result. Default: the parent session of the task.
             * @example research-1
             */
            parent_session_id?: string | null;
            /** @example memory-specialist */
            subagent?: string | null;
            runner?: string | null;
            model?: string | null;
            max_attempts?: number | null;
            budget?: components["schemas"]["NewBudget"] | null;
            /** @description How many revision rounds may follow a poor result. Default: 0. */
            max_revisions?: number | null;
            callback?: components["schemas"]["Callback"] | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        TaskList: {
            items: components["schemas"]["TaskSummary"][];
            next_cursor: string | null;
        };
        /**
         * @description Only the fields to change. A list replaces the stored list. Null removes a field or resets it to its default. Other fields as in `CreatedTask`.
         * @example {
         *       "instructions": "List the public functions of src/ and tests/ with one sentence each."
         *     }
         */
        TaskPatch: {
            title?: string | null;
            instructions?: string | null;
            acceptance_criteria?: (string | components["schemas"]["NewCriterion"])[] | null;
            required_outputs?: (string | components["schemas"]["NewRequiredOutput"])[] | null;
            priority?: components["schemas"]["Priority"] | null;
            depends_on?: string[] | null;
            client_cwd?: string | null;
            background_context?: string | null;
            expected_deliverables?: string[] | null;
            success_criteria?: components["schemas"]["NewSuccessCriteria"] | null;
            constraints?: components["schemas"]["NewConstraints"] | null;
            relevant_files?: string[] | null;
            related_documentation?: string[] | null;
            budget?: components["schemas"]["NewTaskBudget"] | null;
            metadata?: {
                [key: string]: unknown;
            } | null;
        };
        /**
         * @example {
         *       "decision": "request_revision",
         *       "note": "The functions of the parser are missing.",
         *       "criteria": [
         *         {
         *           "criterion_id": "0198c9b1-4c01-7000-8000-000000000001",
         *           "verdict": "unmet",
         *           "comment": "parse() is not listed."
         *         }
         *       ]
         *     }
         */
        TaskReview: {
            decision: components["schemas"]["ReviewDecision"];
            /** @description What to revise, or why the outputs are accepted. */
            note?: string | null;
            /** @description Your verdicts on single criteria, which override those of the agent, of checks and of judges. A request for revision lists those that are not met. */
            criteria?: components["schemas"]["NewVerdict"][] | null;
        };
        TaskRevision: {
            /** Format: uuid */
            task_id: string;
            /** Format: int64 */
            revision: number;
            /** @description The changed fields; for revision 1, the fields that were sent. */
            fields: string[];
            /** @description Null for revision 1. */
            diff: components["schemas"]["BriefDiff"] | null;
            /** @description The criteria as of this revision. */
            acceptance_criteria: components["schemas"]["Criterion"][];
            required_outputs: components["schemas"]["RequiredOutput"][];
            /** @description The owner of the credential that made the request. */
            author: components["schemas"]["Reference"];
            /** Format: date-time */
            created_at: string;
        };
        TaskRevisionList: {
            items: components["schemas"]["TaskRevision"][];
            next_cursor: string | null;
        };
        TaskStats: {
            /** Format: int64 */
            total_tasks: number;
            /**
             * Format: int64
             * @description Tasks that have not ended.
             */
            active_tasks: number;
            tasks_by_status: components["schemas"]["TaskStatusCounts"];
        };
        /**
         * @description completed, failed and cancelled are final.
         * @enum {string}
         */
        TaskStatus: "blocked" | "pending" | "assigned" | "in_progress" | "in_review" | "revision_requested" | "completed" | "failed" | "cancelled";
        TaskStatusCounts: {
            /** Format: int64 */
            blocked: number;
            /** Format: int64 */
            pending: number;
            /** Format: int64 */
            assigned: number;
            /** Format: int64 */
            in_progress: number;
            /** Format: int64 */
            in_review: number;
            /** Format: int64 */
            revision_requested: number;
            /** Format: int64 */
            completed: number;
            /** Format: int64 */
            failed: number;
            /** Format: int64 */
            cancelled: number;
        };
        TaskSuccessCriteria: {
            criteria: string[];
            all_required: boolean;
        };
        TaskSummary: {
            /** Format: uuid */
            id: string;
            title: string;
            status: components["schemas"]["TaskStatus"];
            priority: components["schemas"]["Priority"];
            parent_session_id: string | null;
            subagent_session_id: string | null;
            has_enhanced_context: boolean;
            /** Format: int64 */
            deliverables_count: number;
            /** Format: int64 */
            success_criteria_count: number;
            /** Format: date-time */
            created_at: string;
            /**
             * Format: date-time
             * @description When anything about it changed last.
             */
            updated_at: string;
        };
        TaskValidation: {
            performed: boolean;
            warnings: components["schemas"]["BriefWarning"][];
        };
        TelegramSettings: {
            /** @description Of the bot. It is stored encrypted and never shown; absent later: it stays as it is */
            bot_token?: string;
            /** @description The chat that the bot writes to: a number, or @name of a channel */
            chat_id: string;
            /** @description Whether messages have buttons, and the bot reads this chat. Default: true, and false for @name, which is public */
            interactive?: boolean;
            /** @description What is reported. A subtask or schedule with `notify: false` is not. */
            on: components["schemas"]["MessageOccasion"][];
            quiet_hours?: components["schemas"]["QuietHours"];
            /** @description What is reported within so many minutes becomes one message, but for questions. */
            digest_minutes?: number;
        };
        ToolAnswer: {
            allowed: boolean;
            reason: string;
            /** @description Tools that are always allowed in the background. */
            always_allowed: string[];
        };
        /**
         * @example {
         *       "tool_name": "mcp__github__create_issue",
         *       "background": true
         *     }
         */
        ToolCheck: {
            /** @description The name of a tool, or one use of it, as in `Bash(git status)`. */
            tool_name: string;
            /** @description Whether the run is in the background. Default: false. */
            background?: boolean | null;
        };
        /**
         * @description openai and anthropic: their fine-tuning formats. jsonl: with evaluation, quality and tags.
         * @enum {string}
         */
        TrainingFormat: "openai" | "anthropic" | "jsonl";
        TrainingMessage: {
            role: components["schemas"]["MessageRole"];
            content: string;
        };
        TrainingRecord: {
            messages: components["schemas"]["TrainingMessage"][];
            /** @description For anthropic: the system prompt. */
            system?: string;
            /** @description For jsonl: the latest evaluation. */
            evaluation?: {
                [key: string]: unknown;
            } | null;
            /** @description For jsonl. */
            quality?: string | null;
            /** @description For jsonl. */
            tags?: string[];
        };
        /** @enum {string} */
        Trust: "evidence" | "self_report";
        /**
         * @example {
         *       "id": "port-already-in-use",
         *       "tsg_id": "port-already-in-use",
         *       "title": "The port is already in use",
         *       "patterns": [
         *         "EADDRINUSE",
         *         "address already in use"
         *       ],
         *       "applicability": {
         *         "technologies": [
         *           "node"
         *         ]
         *       },
         *       "severity": "medium",
         *       "match": "substring",
         *       "created_at": "2026-03-02T08:00:00.000Z",
         *       "updated_at": "2026-03-02T08:00:00.000Z",
         *       "content": "## What to do\n\nFind out who listens there: `ss -ltnp`. If it is a server that you left running, stop it; else take another port."
         *     }
         */
        Tsg: {
            id: string;
            /**
             * @deprecated
             * @description Use `id`.
             */
            tsg_id: string;
            title: string;
            patterns: string[];
            match: components["schemas"]["TsgMatch"];
            applicability: components["schemas"]["TsgApplicability"];
            severity: components["schemas"]["TsgSeverity"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
            content: string;
        };
        TsgApplicability: {
            technologies: string[];
        };
        /**
         * @example {
         *       "resolved": true,
         *       "session_id": "research-1"
         *     }
         */
        TsgFeedback: {
            resolved: boolean;
            /**
             * @description The credential of a sub-agent always means its own.
             * @example research-1
             */
            session_id?: string | null;
            /** Format: uuid */
            task_id?: string | null;
        };
        TsgList: {
            items: components["schemas"]["TsgSummary"][];
            next_cursor: string | null;
        };
        /**
         * @description Front matter in YAML with the fields of `NewTsg`, followed by the content.
         * @example ---
         *     title: The port is already in use
         *     severity: medium
         *     match: substring
         *     patterns:
         *       - EADDRINUSE
         *       - address already in use
         *     applicability:
         *       technologies:
         *         - node
         *     ---
         *
         *     ## What to do
         *
         *     Find out who listens there: `ss -ltnp`. If it is a server that you left running, stop it; else take another port.
         */
        TsgMarkdown: string;
        /**
         * @description substring: ignores case. regex: RE2 syntax, case-sensitive; `(?i)` ignores case, `(?m)` makes ^ and $ match at lines.
         * @enum {string}
         */
        TsgMatch: "substring" | "regex";
        /**
         * @description Other fields as in `NewTsg`.
         * @example {
         *       "severity": "high"
         *     }
         */
        TsgPatch: {
            title?: string | null;
            content?: string | null;
            patterns?: string[] | null;
            match?: components["schemas"]["TsgMatch"] | null;
            applicability?: components["schemas"]["NewTsgApplicability"] | null;
            severity?: components["schemas"]["TsgSeverity"] | null;
        };
        /**
         * @example {
         *       "error_message": "Error: listen EADDRINUSE: address already in use :::3000",
         *       "session_id": "research-1"
         *     }
         */
        TsgScan: {
            error_message: string;
            /** @description The surrounding output. It is scanned too. */
            context?: string | null;
            /**
             * @description The session whose next injection announces the guides, each once.
             * @example research-1
             */
            session_id?: string | null;
        };
        TsgScanResult: {
            /** @description Best first, at most 20. */
            items: components["schemas"]["ScannedTsg"][];
        };
        /**
         * @description Guides are sorted by it, the most severe first.
         * @enum {string}
         */
        TsgSeverity: "low" | "medium" | "high" | "critical";
        /** @description Other fields as in `Tsg`. */
        TsgSummary: {
            id: string;
            /** @deprecated */
            tsg_id: string;
            title: string;
            patterns: string[];
            match: components["schemas"]["TsgMatch"];
            applicability: components["schemas"]["TsgApplicability"];
            severity: components["schemas"]["TsgSeverity"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        TsgUsage: {
            tsg_id: string;
            /**
             * Format: int64
             * @description How often the guide was announced, at most once per session.
             */
            surfaced: number;
            /**
             * Format: int64
             * @description How often a session read the guide.
             */
            read: number;
            /**
             * Format: int64
             * @description How often feedback said that it helped.
             */
            resolved: number;
            /**
             * Format: int64
             * @description How often feedback said that it did not help.
             */
            unresolved: number;
            /** @description resolved / (resolved + unresolved); null if both are 0. */
            rate: number | null;
        };
        Update: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @deprecated
             * @description Use `id`.
             */
            update_id: string;
            /** Format: uuid */
            subtask_id: string | null;
            /** Format: uuid */
            task_id: string | null;
            update_type: components["schemas"]["UpdateType"];
            fields: string[];
            content: string;
            /** @description The change of the brief; null for a note. */
            diff: unknown;
            /** Format: int64 */
            revision: number | null;
            sender: components["schemas"]["Reference"];
            delivery: components["schemas"]["Delivery"];
            status: components["schemas"]["UpdateStatus"];
            /** @description The session that received it. */
            delivered_to: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            delivered_at: string | null;
            /**
             * Format: date-time
             * @description When the agent took it in.
             */
            acknowledged_at: string | null;
        };
        UpdateList: {
            items: components["schemas"]["Update"][];
            next_cursor: string | null;
        };
        /**
         * @description The receipt. delivered: the agent received it. acknowledged: the agent confirmed it. superseded: a newer delivery replaced it. expired: the work ended before delivery.
         * @enum {string}
         */
        UpdateStatus: "queued" | "delivered" | "acknowledged" | "superseded" | "expired";
        /** @enum {string} */
        UpdateType: "instructions" | "acceptance_criteria" | "context" | "note" | "revision_request";
        /** @description The usage of all attempts so far. */
        Usage: {
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            cost_usd: number;
            /**
             * Format: int64
             * @description Entries of the transcript.
             */
            steps: number;
            /** Format: int64 */
            tool_calls: number;
        };
        /** @description Usage since the last report: amounts to add, not totals. */
        UsageDelta: {
            /**
             * Format: int64
             * @description Default: 0.
             */
            input_tokens?: number | null;
            /**
             * Format: int64
             * @description Of the input tokens, those that the provider read from its cache. Default: 0.
             */
            cached_input_tokens?: number | null;
            /**
             * Format: int64
             * @description Default: 0.
             */
            output_tokens?: number | null;
            /** @description Default: 0. */
            cost_usd?: number | null;
            /** @description Default: 0. */
            tool_calls?: number | null;
            /** @description The model that was used. Without `cost_usd`, `GET /usage` prices the tokens by it. */
            model?: string | null;
        };
        UsageGroup: {
            /** @description The day (UTC), project, agent, task, model or runner; `(judge)` is the runner of judgements. Null: none. */
            key: string | null;
            /**
             * Format: int64
             * @description Subtasks that ran and ended.
             */
            runs: number;
            /**
             * Format: int64
             * @description The number of their attempts.
             */
            attempts: number;
            /**
             * Format: int64
             * @description The number of judgements that ended.
             */
            judgements: number;
            /**
             * Format: int64
             * @description Tokens that models have read, with those from a cache.
             */
            input_tokens: number;
            /**
             * Format: int64
             * @description Of the input tokens, those that providers read from their caches.
             */
            cached_input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /**
             * Format: int64
             * @description How long the attempts ran with a live worker, in milliseconds.
             */
            duration_ms: number;
            /** @description The cost of everything whose cost is known. Null if the cost of nothing is known. */
            cost_usd: number | null;
            /** @description `reported`: runners and judges said it. `priced`: calculated from tokens and prices. Null: there is none. */
            cost_source: components["schemas"]["CostSource"] | null;
            /**
             * Format: int64
             * @description Attempts and judgements without a price for their model. `cost_usd` lacks them.
             */
            unpriced_runs: number;
            /** @description The names of those models. `MODEL_PRICES` can set their prices. */
            unpriced_models: string[];
            /**
             * Format: int64
             * @description Attempts and judgements that reported nothing. `cost_usd` lacks them too.
             */
            unreported_runs: number;
        };
        /** @enum {string} */
        UsageGrouping: "day" | "project" | "agent" | "task" | "model" | "runner";
        /** @description Other fields as in `UsageGroup`. */
        UsageReport: {
            /**
             * Format: date-time
             * @description Subtasks and judgements that ended from then on
             */
            since: string;
            /**
             * Format: date-time
             * @description and before then.
             */
            until: string;
            by: components["schemas"]["UsageGrouping"];
            /** Format: int64 */
            runs: number;
            /** Format: int64 */
            attempts: number;
            /** Format: int64 */
            judgements: number;
            /** Format: int64 */
            input_tokens: number;
            /** Format: int64 */
            cached_input_tokens: number;
            /** Format: int64 */
            output_tokens: number;
            /** Format: int64 */
            duration_ms: number;
            cost_usd: number | null;
            cost_source: components["schemas"]["CostSource"] | null;
            /** Format: int64 */
            unpriced_runs: number;
            unpriced_models: string[];
            /** Format: int64 */
            unreported_runs: number;
            /** @description Days: newest first. Others: most tokens first. At most 400. */
            groups: components["schemas"]["UsageGroup"][];
            /** @description True if there are more than 400 groups. The totals count them all. */
            is_cut: boolean;
            /** @description What is stored now, whatever the range. */
            stored: components["schemas"]["StoredBytes"];
            /** @description The date of the list prices that count where `MODEL_PRICES` has none. */
            prices_date: string;
        };
        ValidatedBrief: {
            /** @description The brief as it would be stored. */
            cleaned: components["schemas"]["CleanBrief"];
            warnings: components["schemas"]["BriefWarning"][];
        };
        VerdictCounts: {
            /** Format: int64 */
            met: number;
            /** Format: int64 */
            unmet: number;
            /** Format: int64 */
            unclear: number;
            /** Format: int64 */
            not_addressed: number;
        };
        /**
         * @description check_in: the agent’s own report. schema: an output was validated. check: a program was executed. judge: a model read the output; a met quotes it. person: a review says it.
         * @enum {string}
         */
        VerdictMethod: "check_in" | "schema" | "check" | "judge" | "person";
        /**
         * @description not_addressed: there is no evidence. unclear: an open question, a ✅ whose words deny it, or a judge that cannot tell.
         * @enum {string}
         */
        VerdictValue: "met" | "unmet" | "unclear" | "not_addressed";
        /**
         * @example {
         *       "lease_token": "mlt_9YkR…",
         *       "question_id": "0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47",
         *       "continuation": "{\"done\":[\"src/parse.ts\"]}"
         *     }
         */
        WaitRequest: {
            /** @description `lease.token` of the claim. */
            lease_token: string;
            /**
             * Format: uuid
             * @description A question of this subtask.
             */
            question_id: string;
            /** @description What the next attempt needs to go on: `brief.continuation.state` of its claim. At most 1 MiB of UTF-8. */
            continuation?: string | null;
            usage?: components["schemas"]["UsageDelta"] | null;
        };
        /**
         * @example {
         *       "id": "0198c9b0-0000-7000-8000-00000000000b",
         *       "url": "https://example.com/muster",
         *       "events": [
         *         "subtask.completed",
         *         "subtask.failed",
         *         "question.asked"
         *       ],
         *       "subject": null,
         *       "agent_id": null,
         *       "session_id": null,
         *       "ordered": false,
         *       "description": "The build server",
         *       "status": "enabled",
         *       "disabled_reason": null,
         *       "disabled_at": null,
         *       "previous_secret_until": null,
         *       "created_at": "2026-03-02T08:00:00.000Z"
         *     }
         */
        Webhook: {
            /** Format: uuid */
            id: string;
            url: string;
            events: components["schemas"]["EventPattern"][];
            subject: string | null;
            agent_id: string | null;
            session_id: string | null;
            ordered: boolean;
            description: string | null;
            status: components["schemas"]["WebhookStatus"];
            disabled_reason: string | null;
            /** Format: date-time */
            disabled_at: string | null;
            /**
             * Format: date-time
             * @description Until when deliveries have a second signature, by the secret before the last rotation.
             */
            previous_secret_until: string | null;
            /** Format: date-time */
            created_at: string;
        };
        WebhookList: {
            items: components["schemas"]["Webhook"][];
            next_cursor: string | null;
        };
        /**
         * @description Other fields as in `NewWebhook`.
         * @example {
         *       "events": [
         *         "subtask.*"
         *       ],
         *       "enabled": true
         *     }
         */
        WebhookPatch: {
            /**
             * Format: uri
             * @example https://example.com/muster
             */
            url?: string | null;
            events?: components["schemas"]["EventPattern"][] | null;
            /** @example 0198c9b0-0000-7000-8000-00000000000b */
            subject?: string | null;
            /** @example docs-writer */
            agent_id?: string | null;
            /** @example research-1 */
            session_id?: string | null;
            /** @description true: the events of one subject are sent one after the other. */
            ordered?: boolean | null;
            description?: string | null;
            /** @description false: nothing is sent any more, and what waits is given up. true: enables it again, also after a 410. */
            enabled?: boolean | null;
        };
        /** @enum {string} */
        WebhookStatus: "enabled" | "disabled";
        /** @description Other fields as in `Webhook`. */
        WebhookWithSecret: {
            /** Format: uuid */
            id: string;
            url: string;
            events: components["schemas"]["EventPattern"][];
            subject: string | null;
            agent_id: string | null;
            session_id: string | null;
            ordered: boolean;
            description: string | null;
            status: components["schemas"]["WebhookStatus"];
            disabled_reason: string | null;
            /** Format: date-time */
            disabled_at: string | null;
            /** Format: date-time */
            previous_secret_until: string | null;
            /** Format: date-time */
            created_at: string;
            /** @description Signs its deliveries. Shown once; null when the answer is repeated. */
            secret: string | null;
        };
        /** @description Other fields as in `Update`. */
        WordedUpdate: {
            /** Format: uuid */
            id: string;
            /**
             * Format: uuid
             * @deprecated
             */
            update_id: string;
            /** Format: uuid */
            subtask_id: string | null;
            /** Format: uuid */
            task_id: string | null;
            update_type: components["schemas"]["UpdateType"];
            fields: string[];
            content: string;
            diff: unknown;
            /** Format: int64 */
            revision: number | null;
            sender: components["schemas"]["Reference"];
            delivery: components["schemas"]["Delivery"];
            status: components["schemas"]["UpdateStatus"];
            delivered_to: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            delivered_at: string | null;
            /** Format: date-time */
            acknowledged_at: string | null;
            /** @description The update as text for the agent: a header, and the content in a block. */
            text: string;
        };
        Worker: {
            id: string;
            /** @description `draining` takes no new work, `drained` holds none any more; `lost` has shown no sign of life for five seconds. */
            state: components["schemas"]["WorkerState"];
            /** @description Version of Muster that it runs; null, as host and pid, where that does not say. */
            version: string | null;
            host: string | null;
            /** Format: int64 */
            pid: number | null;
            runners: string[];
            /**
             * Format: int64
             * @description How many runs it takes at once.
             */
            capacity: number;
            /**
             * Format: int64
             * @description How many subtasks it runs now, of all projects.
             */
            running: number;
            /**
             * Format: date-time
             * @description When it registered.
             */
            started_at: string;
            /**
             * Format: date-time
             * @description Its last sign of life. A live worker gives two a second.
             */
            heartbeat_at: string;
            /** @description Null while it takes work. */
            drain: components["schemas"]["WorkerDrain"] | null;
        };
        WorkerDrain: {
            runs: components["schemas"]["DrainMode"];
            /**
             * Format: date-time
             * @description When it was asked first.
             */
            requested_at: string;
            /**
             * Format: date-time
             * @description When it held no work any more.
             */
            drained_at: string | null;
        };
        WorkerList: {
            items: components["schemas"]["Worker"][];
            next_cursor: string | null;
        };
        /** @enum {string} */
        WorkerState: "active" | "draining" | "drained" | "lost";
    };
    responses: {
        /** @description An error. `code` says which; `x-errors` of the operation lists the codes that it can answer, beside the `x-common-errors`. */
        Problem: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description Only writes of this actor, by its id.
         * @example 0198c9a0-0000-7000-8000-00000000000a
         */
        Actor: string;
        /** @description Continue after this event id; 0 starts with the oldest kept event. The header `Last-Event-ID` takes precedence. */
        After: number;
        /**
         * @description Only those of this agent.
         * @example default
         */
        AgentId: string;
        /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
        Cursor: string;
        /** @description Id of the delivery. */
        DeliverieId: string;
        /** @description Id of the delivery. */
        DeliveryId: string;
        Door: components["schemas"]["AuditDoor"];
        /** @description Id of the evaluation. */
        EvaluationId: string;
        /** @description Id of the fact. */
        FactId: string;
        /**
         * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
         * @example spawn-2026-03-02-1
         */
        IdempotencyKey: string;
        /**
         * @description The `ETag` of what the change was made from, several of them, or `*` for any. 428 without it; 412 if there is a newer revision.
         * @example "3"
         */
        IfMatch: string;
        /**
         * @description The `ETag` of what the caller has, several of them, or `*`. 304 without a body while it is the same.
         * @example "mB3wdLv6PfFVLNYMKc8rDg"
         */
        IfNoneMatch: string;
        /** @description Id of the last event that arrived. */
        LastEventId: number;
        /** @description How many items at most. */
        Limit: number;
        /**
         * @description Name of the sub-agent: at most 64 lower-case letters, digits and dashes, starting with a letter; or Explore, Plan, general-purpose.
         * @example memory-specialist
         */
        Name: string;
        /**
         * @description Only this operation, tool or command.
         * @example createApiKey
         */
        Operation: string;
        /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
        OptionalIfMatch: string;
        /** @description Id of the project. */
        ProjectId: string;
        /** @description Id of the question. */
        QuestionId: string;
        /** @description Id of the schedule. */
        ScheduleId: string;
        /**
         * @description The session, as its harness names it.
         * @example research-1
         */
        SessionId: string;
        /**
         * @description The session, as its harness names it.
         * @example writer-1
         */
        SessionSessionId: string;
        /** @description Only writes at this time or later. */
        Since: string;
        Status: components["schemas"]["EventDeliveryStatus"];
        /**
         * @description Only writes that name or have made what has this id.
         * @example 0198c9a0-0000-7000-8000-00000000000a
         */
        Subject: string;
        /** @description Id of the subtask. */
        SubtaskId: string;
        /** @description Id of the task. */
        TaskId: string;
        /**
         * @description Id of the guide.
         * @example port-already-in-use
         */
        TsgId: string;
        /** @description Only writes before this time. */
        Until: string;
        /** @description Id of the webhook. */
        WebhookId: string;
    };
    requestBodies: never;
    headers: {
        /** @description Path at which what was created can be read. */
        Location: string;
        /** @description Version of what is answered, for `If-Match` and `If-None-Match`. */
        ETag: string;
        /** @description With `rel="next"`: the URL of the next page. Absent on the last one. */
        Link: string;
        /** @description Seconds after which a retry makes sense. */
        "Retry-After": number;
        /** @description With 401: how to authenticate. */
        "WWW-Authenticate": string;
        /** @description The id of the request, also in the log: the one that the caller sent, or a new one. */
        "X-Request-Id": string;
        /** @description What is left of the rate limit, as `"default";r=49999;t=10`. */
        RateLimit: string;
        /** @description The rate limit, as `"default";q=50000;w=10`. */
        "RateLimit-Policy": string;
    };
    pathItems: never;
}
export type Agent = components['schemas']['Agent'];
export type AgentBudget = components['schemas']['AgentBudget'];
export type AgentLimits = components['schemas']['AgentLimits'];
export type AgentList = components['schemas']['AgentList'];
export type AgreementCase = components['schemas']['AgreementCase'];
export type AgreementCriterion = components['schemas']['AgreementCriterion'];
export type AgreementGroup = components['schemas']['AgreementGroup'];
export type AgreementLinks = components['schemas']['AgreementLinks'];
export type AgreementPairs = components['schemas']['AgreementPairs'];
export type AgreementStats = components['schemas']['AgreementStats'];
export type Answer = components['schemas']['Answer'];
export type AnyEvaluationStats = components['schemas']['AnyEvaluationStats'];
export type ApiKey = components['schemas']['ApiKey'];
export type ApiKeyList = components['schemas']['ApiKeyList'];
export type ApprovalDecision = components['schemas']['ApprovalDecision'];
export type AssignedTask = components['schemas']['AssignedTask'];
export type AssignmentRequest = components['schemas']['AssignmentRequest'];
export type AuditDoor = components['schemas']['AuditDoor'];
export type AuditEntry = components['schemas']['AuditEntry'];
export type AuditList = components['schemas']['AuditList'];
export type BackgroundMcpPolicy = components['schemas']['BackgroundMcpPolicy'];
export type Brief = components['schemas']['Brief'];
export type BriefContinuation = components['schemas']['BriefContinuation'];
export type BriefCriterion = components['schemas']['BriefCriterion'];
export type BriefDiff = components['schemas']['BriefDiff'];
export type BriefSubagent = components['schemas']['BriefSubagent'];
export type BriefWarning = components['schemas']['BriefWarning'];
export type BrokenSubagent = components['schemas']['BrokenSubagent'];
export type Budget = components['schemas']['Budget'];
export type BudgetAmounts = components['schemas']['BudgetAmounts'];
export type Callback = components['schemas']['Callback'];
export type CheckInText = components['schemas']['CheckInText'];
export type CheckRun = components['schemas']['CheckRun'];
export type CheckRunList = components['schemas']['CheckRunList'];
export type CheckStatus = components['schemas']['CheckStatus'];
export type CheckedIn = components['schemas']['CheckedIn'];
export type CheckedInCriterion = components['schemas']['CheckedInCriterion'];
export type ClaimRequest = components['schemas']['ClaimRequest'];
export type ClaimedInbox = components['schemas']['ClaimedInbox'];
export type ClaimedSubtask = components['schemas']['ClaimedSubtask'];
export type ClaudeCodeHookAnswer = components['schemas']['ClaudeCodeHookAnswer'];
export type ClaudeCodeHookInput = components['schemas']['ClaudeCodeHookInput'];
export type ClaudeCodeHookOutput = components['schemas']['ClaudeCodeHookOutput'];
export type CleanBrief = components['schemas']['CleanBrief'];
export type CleanCriterion = components['schemas']['CleanCriterion'];
export type CompleteRequest = components['schemas']['CompleteRequest'];
export type ConfirmedUpdate = components['schemas']['ConfirmedUpdate'];
export type CostSource = components['schemas']['CostSource'];
export type CreatedApiKey = components['schemas']['CreatedApiKey'];
export type CreatedTask = components['schemas']['CreatedTask'];
export type Criterion = components['schemas']['Criterion'];
export type CriterionSource = components['schemas']['CriterionSource'];
export type CriterionState = components['schemas']['CriterionState'];
export type CriterionVerdict = components['schemas']['CriterionVerdict'];
export type Delivery = components['schemas']['Delivery'];
export type DeliveryAttempt = components['schemas']['DeliveryAttempt'];
export type DeliveryReceiver = components['schemas']['DeliveryReceiver'];
export type DiffOp = components['schemas']['DiffOp'];
export type DiffPart = components['schemas']['DiffPart'];
export type Drain = components['schemas']['Drain'];
export type DrainMode = components['schemas']['DrainMode'];
export type EmailSettings = components['schemas']['EmailSettings'];
export type EnforcementLevel = components['schemas']['EnforcementLevel'];
export type Episode = components['schemas']['Episode'];
export type ErrorCode = components['schemas']['ErrorCode'];
export type EvaluatedPayload = components['schemas']['EvaluatedPayload'];
export type Evaluation = components['schemas']['Evaluation'];
export type EvaluationDimensions = components['schemas']['EvaluationDimensions'];
export type EvaluationGates = components['schemas']['EvaluationGates'];
export type EvaluationGroup = components['schemas']['EvaluationGroup'];
export type EvaluationGrouping = components['schemas']['EvaluationGrouping'];
export type EvaluationList = components['schemas']['EvaluationList'];
export type EvaluationOrigin = components['schemas']['EvaluationOrigin'];
export type EvaluationRef = components['schemas']['EvaluationRef'];
export type EvaluationSettings = components['schemas']['EvaluationSettings'];
export type EvaluationStats = components['schemas']['EvaluationStats'];
export type EvaluationSummary = components['schemas']['EvaluationSummary'];
export type EvaluationWarning = components['schemas']['EvaluationWarning'];
export type EvaluationWarningCode = components['schemas']['EvaluationWarningCode'];
export type Event = components['schemas']['Event'];
export type EventDelivery = components['schemas']['EventDelivery'];
export type EventDeliveryList = components['schemas']['EventDeliveryList'];
export type EventDeliveryStatus = components['schemas']['EventDeliveryStatus'];
export type EventDeliverySummary = components['schemas']['EventDeliverySummary'];
export type EventPattern = components['schemas']['EventPattern'];
export type EventType = components['schemas']['EventType'];
export type ExhaustedBudget = components['schemas']['ExhaustedBudget'];
export type Fact = components['schemas']['Fact'];
export type FailRequest = components['schemas']['FailRequest'];
export type FieldProblem = components['schemas']['FieldProblem'];
export type FileCheck = components['schemas']['FileCheck'];
export type FileField = components['schemas']['FileField'];
export type FileStatus = components['schemas']['FileStatus'];
export type FinalOutcome = components['schemas']['FinalOutcome'];
export type Health = components['schemas']['Health'];
export type HeartbeatAnswer = components['schemas']['HeartbeatAnswer'];
export type HeartbeatRequest = components['schemas']['HeartbeatRequest'];
export type InboxAck = components['schemas']['InboxAck'];
export type InboxClaimRequest = components['schemas']['InboxClaimRequest'];
export type InboxItem = components['schemas']['InboxItem'];
export type InboxItemKind = components['schemas']['InboxItemKind'];
export type Injection = components['schemas']['Injection'];
export type InjectionItem = components['schemas']['InjectionItem'];
export type InjectionItemKind = components['schemas']['InjectionItemKind'];
export type InjectionRequest = components['schemas']['InjectionRequest'];
export type JudgeModel = components['schemas']['JudgeModel'];
export type JudgeRequest = components['schemas']['JudgeRequest'];
export type JudgeSettings = components['schemas']['JudgeSettings'];
export type Judgement = components['schemas']['Judgement'];
export type JudgementStatus = components['schemas']['JudgementStatus'];
export type Lease = components['schemas']['Lease'];
export type LinkedTsg = components['schemas']['LinkedTsg'];
export type LoopAction = components['schemas']['LoopAction'];
export type LoopSettings = components['schemas']['LoopSettings'];
export type Memory = components['schemas']['Memory'];
export type MemoryKind = components['schemas']['MemoryKind'];
export type MemorySearch = components['schemas']['MemorySearch'];
export type Message = components['schemas']['Message'];
export type MessageList = components['schemas']['MessageList'];
export type MessageOccasion = components['schemas']['MessageOccasion'];
export type MessageRole = components['schemas']['MessageRole'];
export type MissedPolicy = components['schemas']['MissedPolicy'];
export type NewAnswer = components['schemas']['NewAnswer'];
export type NewApiKey = components['schemas']['NewApiKey'];
export type NewBudget = components['schemas']['NewBudget'];
export type NewCheckIn = components['schemas']['NewCheckIn'];
export type NewConstraints = components['schemas']['NewConstraints'];
export type NewCriterion = components['schemas']['NewCriterion'];
export type NewDefaultAnswer = components['schemas']['NewDefaultAnswer'];
export type NewDrain = components['schemas']['NewDrain'];
export type NewEvaluation = components['schemas']['NewEvaluation'];
export type NewFact = components['schemas']['NewFact'];
export type NewMessage = components['schemas']['NewMessage'];
export type NewNote = components['schemas']['NewNote'];
export type NewQualityFlag = components['schemas']['NewQualityFlag'];
export type NewQuestionOption = components['schemas']['NewQuestionOption'];
export type NewRequiredOutput = components['schemas']['NewRequiredOutput'];
export type NewSchedule = components['schemas']['NewSchedule'];
export type NewStep = components['schemas']['NewStep'];
export type NewSubtask = components['schemas']['NewSubtask'];
export type NewSubtaskQuestion = components['schemas']['NewSubtaskQuestion'];
export type NewSuccessCriteria = components['schemas']['NewSuccessCriteria'];
export type NewTask = components['schemas']['NewTask'];
export type NewTaskBudget = components['schemas']['NewTaskBudget'];
export type NewTaskQuestion = components['schemas']['NewTaskQuestion'];
export type NewTsg = components['schemas']['NewTsg'];
export type NewTsgApplicability = components['schemas']['NewTsgApplicability'];
export type NewUpdate = components['schemas']['NewUpdate'];
export type NewVerdict = components['schemas']['NewVerdict'];
export type NewWebhook = components['schemas']['NewWebhook'];
export type NoKappaReason = components['schemas']['NoKappaReason'];
export type OnExpiry = components['schemas']['OnExpiry'];
export type OverlapPolicy = components['schemas']['OverlapPolicy'];
export type PartStatus = components['schemas']['PartStatus'];
export type PersonVerdict = components['schemas']['PersonVerdict'];
export type PersonWord = components['schemas']['PersonWord'];
export type PersonWordKind = components['schemas']['PersonWordKind'];
export type PhraseCandidate = components['schemas']['PhraseCandidate'];
export type Priority = components['schemas']['Priority'];
export type Problem = components['schemas']['Problem'];
export type ProblemWarning = components['schemas']['ProblemWarning'];
export type Project = components['schemas']['Project'];
export type ProjectBudget = components['schemas']['ProjectBudget'];
export type ProjectLimits = components['schemas']['ProjectLimits'];
export type ProjectPatch = components['schemas']['ProjectPatch'];
export type ProjectSettings = components['schemas']['ProjectSettings'];
export type PromptSection = components['schemas']['PromptSection'];
export type PutSubagent = components['schemas']['PutSubagent'];
export type Quality = components['schemas']['Quality'];
export type QualityFlag = components['schemas']['QualityFlag'];
export type Question = components['schemas']['Question'];
export type QuestionKind = components['schemas']['QuestionKind'];
export type QuestionList = components['schemas']['QuestionList'];
export type QuestionOption = components['schemas']['QuestionOption'];
export type QuestionStatus = components['schemas']['QuestionStatus'];
export type QuietHours = components['schemas']['QuietHours'];
export type Readiness = components['schemas']['Readiness'];
export type ReadinessPart = components['schemas']['ReadinessPart'];
export type ReadinessParts = components['schemas']['ReadinessParts'];
export type ReadinessStatus = components['schemas']['ReadinessStatus'];
export type Reason = components['schemas']['Reason'];
export type ReceiverKind = components['schemas']['ReceiverKind'];
export type Recommendation = components['schemas']['Recommendation'];
export type RecommendationCounts = components['schemas']['RecommendationCounts'];
export type Reference = components['schemas']['Reference'];
export type Reflection = components['schemas']['Reflection'];
export type ReflectionItem = components['schemas']['ReflectionItem'];
export type ReleaseRequest = components['schemas']['ReleaseRequest'];
export type ReportedStatus = components['schemas']['ReportedStatus'];
export type RequiredOutput = components['schemas']['RequiredOutput'];
export type RetentionDays = components['schemas']['RetentionDays'];
export type ReviewDecision = components['schemas']['ReviewDecision'];
export type ReviewMode = components['schemas']['ReviewMode'];
export type RevisedTask = components['schemas']['RevisedTask'];
export type Runner = components['schemas']['Runner'];
export type RunnerList = components['schemas']['RunnerList'];
export type RunnerSandbox = components['schemas']['RunnerSandbox'];
export type SandboxLimits = components['schemas']['SandboxLimits'];
export type ScannedTsg = components['schemas']['ScannedTsg'];
export type Schedule = components['schemas']['Schedule'];
export type ScheduleFilter = components['schemas']['ScheduleFilter'];
export type ScheduleFirings = components['schemas']['ScheduleFirings'];
export type ScheduleList = components['schemas']['ScheduleList'];
export type SchedulePatch = components['schemas']['SchedulePatch'];
export type SchedulePreview = components['schemas']['SchedulePreview'];
export type SchedulePreviewRequest = components['schemas']['SchedulePreviewRequest'];
export type ScheduleRun = components['schemas']['ScheduleRun'];
export type ScheduleRunList = components['schemas']['ScheduleRunList'];
export type ScheduleState = components['schemas']['ScheduleState'];
export type ScheduleType = components['schemas']['ScheduleType'];
export type ScheduleWarning = components['schemas']['ScheduleWarning'];
export type Scope = components['schemas']['Scope'];
export type SecretRotation = components['schemas']['SecretRotation'];
export type SentPrompt = components['schemas']['SentPrompt'];
export type SentPromptList = components['schemas']['SentPromptList'];
export type ShortenedField = components['schemas']['ShortenedField'];
export type SlackSettings = components['schemas']['SlackSettings'];
export type SlotOutcome = components['schemas']['SlotOutcome'];
export type SpawnResult = components['schemas']['SpawnResult'];
export type StatsGrouping = components['schemas']['StatsGrouping'];
export type Step = components['schemas']['Step'];
export type StepKind = components['schemas']['StepKind'];
export type StepList = components['schemas']['StepList'];
export type StoredByRun = components['schemas']['StoredByRun'];
export type StoredBytes = components['schemas']['StoredBytes'];
export type Subagent = components['schemas']['Subagent'];
export type SubagentImport = components['schemas']['SubagentImport'];
export type SubagentImportOutcome = components['schemas']['SubagentImportOutcome'];
export type SubagentImportRow = components['schemas']['SubagentImportRow'];
export type SubagentList = components['schemas']['SubagentList'];
export type SubagentMarkdown = components['schemas']['SubagentMarkdown'];
export type SubagentProblem = components['schemas']['SubagentProblem'];
export type SubagentRef = components['schemas']['SubagentRef'];
export type SubagentSource = components['schemas']['SubagentSource'];
export type SubagentSpawn = components['schemas']['SubagentSpawn'];
export type SubagentSummary = components['schemas']['SubagentSummary'];
export type Subtask = components['schemas']['Subtask'];
export type SubtaskList = components['schemas']['SubtaskList'];
export type SubtaskStatus = components['schemas']['SubtaskStatus'];
export type Task = components['schemas']['Task'];
export type TaskBudget = components['schemas']['TaskBudget'];
export type TaskCheckIn = components['schemas']['TaskCheckIn'];
export type TaskCheckInList = components['schemas']['TaskCheckInList'];
export type TaskCompletion = components['schemas']['TaskCompletion'];
export type TaskConstraints = components['schemas']['TaskConstraints'];
export type TaskContext = components['schemas']['TaskContext'];
export type TaskDeliverables = components['schemas']['TaskDeliverables'];
export type TaskDispatch = components['schemas']['TaskDispatch'];
export type TaskList = components['schemas']['TaskList'];
export type TaskPatch = components['schemas']['TaskPatch'];
export type TaskReview = components['schemas']['TaskReview'];
export type TaskRevision = components['schemas']['TaskRevision'];
export type TaskRevisionList = components['schemas']['TaskRevisionList'];
export type TaskStats = components['schemas']['TaskStats'];
export type TaskStatus = components['schemas']['TaskStatus'];
export type TaskStatusCounts = components['schemas']['TaskStatusCounts'];
export type TaskSuccessCriteria = components['schemas']['TaskSuccessCriteria'];
export type TaskSummary = components['schemas']['TaskSummary'];
export type TaskValidation = components['schemas']['TaskValidation'];
export type TelegramSettings = components['schemas']['TelegramSettings'];
export type ToolAnswer = components['schemas']['ToolAnswer'];
export type ToolCheck = components['schemas']['ToolCheck'];
export type TrainingFormat = components['schemas']['TrainingFormat'];
export type TrainingMessage = components['schemas']['TrainingMessage'];
export type TrainingRecord = components['schemas']['TrainingRecord'];
export type Trust = components['schemas']['Trust'];
export type Tsg = components['schemas']['Tsg'];
export type TsgApplicability = components['schemas']['TsgApplicability'];
export type TsgFeedback = components['schemas']['TsgFeedback'];
export type TsgList = components['schemas']['TsgList'];
export type TsgMarkdown = components['schemas']['TsgMarkdown'];
export type TsgMatch = components['schemas']['TsgMatch'];
export type TsgPatch = components['schemas']['TsgPatch'];
export type TsgScan = components['schemas']['TsgScan'];
export type TsgScanResult = components['schemas']['TsgScanResult'];
export type TsgSeverity = components['schemas']['TsgSeverity'];
export type TsgSummary = components['schemas']['TsgSummary'];
export type TsgUsage = components['schemas']['TsgUsage'];
export type Update = components['schemas']['Update'];
export type UpdateList = components['schemas']['UpdateList'];
export type UpdateStatus = components['schemas']['UpdateStatus'];
export type UpdateType = components['schemas']['UpdateType'];
export type Usage = components['schemas']['Usage'];
export type UsageDelta = components['schemas']['UsageDelta'];
export type UsageGroup = components['schemas']['UsageGroup'];
export type UsageGrouping = components['schemas']['UsageGrouping'];
export type UsageReport = components['schemas']['UsageReport'];
export type ValidatedBrief = components['schemas']['ValidatedBrief'];
export type VerdictCounts = components['schemas']['VerdictCounts'];
export type VerdictMethod = components['schemas']['VerdictMethod'];
export type VerdictValue = components['schemas']['VerdictValue'];
export type WaitRequest = components['schemas']['WaitRequest'];
export type Webhook = components['schemas']['Webhook'];
export type WebhookList = components['schemas']['WebhookList'];
export type WebhookPatch = components['schemas']['WebhookPatch'];
export type WebhookStatus = components['schemas']['WebhookStatus'];
export type WebhookWithSecret = components['schemas']['WebhookWithSecret'];
export type WordedUpdate = components['schemas']['WordedUpdate'];
export type Worker = components['schemas']['Worker'];
export type WorkerDrain = components['schemas']['WorkerDrain'];
export type WorkerList = components['schemas']['WorkerList'];
export type WorkerState = components['schemas']['WorkerState'];
export type ResponseProblem = components['responses']['Problem'];
export type ParameterActor = components['parameters']['Actor'];
export type ParameterAfter = components['parameters']['After'];
export type ParameterAgentId = components['parameters']['AgentId'];
export type ParameterCursor = components['parameters']['Cursor'];
export type ParameterDeliverieId = components['parameters']['DeliverieId'];
export type ParameterDeliveryId = components['parameters']['DeliveryId'];
export type ParameterDoor = components['parameters']['Door'];
export type ParameterEvaluationId = components['parameters']['EvaluationId'];
export type ParameterFactId = components['parameters']['FactId'];
export type ParameterIdempotencyKey = components['parameters']['IdempotencyKey'];
export type ParameterIfMatch = components['parameters']['IfMatch'];
export type ParameterIfNoneMatch = components['parameters']['IfNoneMatch'];
export type ParameterLastEventId = components['parameters']['LastEventId'];
export type ParameterLimit = components['parameters']['Limit'];
export type ParameterName = components['parameters']['Name'];
export type ParameterOperation = components['parameters']['Operation'];
export type ParameterOptionalIfMatch = components['parameters']['OptionalIfMatch'];
export type ParameterProjectId = components['parameters']['ProjectId'];
export type ParameterQuestionId = components['parameters']['QuestionId'];
export type ParameterScheduleId = components['parameters']['ScheduleId'];
export type ParameterSessionId = components['parameters']['SessionId'];
export type ParameterSessionSessionId = components['parameters']['SessionSessionId'];
export type ParameterSince = components['parameters']['Since'];
export type ParameterStatus = components['parameters']['Status'];
export type ParameterSubject = components['parameters']['Subject'];
export type ParameterSubtaskId = components['parameters']['SubtaskId'];
export type ParameterTaskId = components['parameters']['TaskId'];
export type ParameterTsgId = components['parameters']['TsgId'];
export type ParameterUntil = components['parameters']['Until'];
export type ParameterWebhookId = components['parameters']['WebhookId'];
export type HeaderLocation = components['headers']['Location'];
export type HeaderETag = components['headers']['ETag'];
export type HeaderLink = components['headers']['Link'];
export type HeaderRetryAfter = components['headers']['Retry-After'];
export type HeaderWwwAuthenticate = components['headers']['WWW-Authenticate'];
export type HeaderXRequestId = components['headers']['X-Request-Id'];
export type HeaderRateLimit = components['headers']['RateLimit'];
export type HeaderRateLimitPolicy = components['headers']['RateLimit-Policy'];
export type $defs = Record<string, never>;
export interface operations {
    listSubtasks: {
        parameters: {
            query?: {
                /** @description Only subtasks in this state. */
                status?: components["schemas"]["SubtaskStatus"];
                /**
                 * @description Only those that this session asked for.
                 * @example research-1
                 */
                parent_session_id?: string;
                /**
                 * @description Only those of this agent.
                 * @example default
                 */
                agent_id?: components["parameters"]["AgentId"];
                /** @description Only subtasks of this task. */
                task_id?: string;
                /** @description Only subtasks that this schedule started. */
                schedule_id?: string;
                /**
                 * @description Only runs of this sub-agent.
                 * @example memory-specialist
                 */
                subagent?: string;
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @deprecated
                 * @description Use `parent_session_id`.
                 */
                session?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of subtasks. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubtaskList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createSubtask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSubtask"];
            };
        };
        responses: {
            /** @description The subtask has ended within `wait_seconds`. */
            200: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            /** @description Accepted and stored; the subtask has not ended yet. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of agents. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getSubtask: {
        parameters: {
            query?: {
                /** @description Seconds to wait for the end. */
                wait_seconds?: number;
            };
            header?: {
                /**
                 * @description The `ETag` of what the caller has, several of them, or `*`. 304 without a body while it is the same.
                 * @example "mB3wdLv6PfFVLNYMKc8rDg"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subtask. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            /** @description It has not changed since the `ETag` in `If-None-Match`. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    cancelSubtask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The subtask was pending and is cancelled. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            /** @description The subtask is running and was asked to stop. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    streamSubtaskEvents: {
        parameters: {
            query?: {
                /** @description Continue after this event id; 0 starts with the oldest kept event. The header `Last-Event-ID` takes precedence. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description Id of the last event that arrived. */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream that ends with the subtask. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Event"];
                };
            };
            /** @description The subtask has ended and there are no events after the cursor. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    listSubtaskSteps: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of steps. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StepList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listSubtaskPrompts: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of prompts, in the order of the attempts. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SentPromptList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listSubtaskUpdates: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of updates. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    steerSubtask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewUpdate"];
            };
        };
        responses: {
            /** @description Stored. `delivery` is how the note will be delivered: `next_step` if the runner cannot be interrupted. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Update"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getSubtaskPayload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The output. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluatedPayload"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    flagSubtaskQuality: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewQualityFlag"];
            };
        };
        responses: {
            /** @description The flag. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QualityFlag"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listTasks: {
        parameters: {
            query?: {
                /** @description Only tasks in this state. */
                status?: components["schemas"]["TaskStatus"];
                /**
                 * @description Only those that this session wants done.
                 * @example research-1
                 */
                parent_session_id?: string;
                /**
                 * @description Only those that this session holds.
                 * @example writer-1
                 */
                subagent_session_id?: string;
                /** @description Only tasks of this priority. */
                priority?: components["schemas"]["Priority"];
                /** @description Only tasks that contain these words. */
                q?: string;
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @deprecated
                 * @description Use `parent_session_id`.
                 */
                parent_session?: string;
                /**
                 * @deprecated
                 * @description Use `subagent_session_id`.
                 */
                subagent_session?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tasks. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreatedTask"];
            };
        };
        responses: {
            /** @description Stored, as revision 1. */
            201: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    validateTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTask"];
            };
        };
        responses: {
            /** @description The brief as it would be stored, with warnings. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ValidatedBrief"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getTask: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The task. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    reviseTask: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description The `ETag` of what the change was made from, several of them, or `*` for any. 428 without it; 412 if there is a newer revision.
                 * @example "3"
                 */
                "If-Match": components["parameters"]["IfMatch"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskPatch"];
            };
        };
        responses: {
            /** @description The next revision. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevisedTask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listTaskRevisions: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of revisions. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskRevisionList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listTaskUpdates: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of updates. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    noteTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewNote"];
            };
        };
        responses: {
            /** @description Stored, with its receipt. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Update"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    confirmUpdate: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id that the update came with. */
                update_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The update is genuine. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfirmedUpdate"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    assignTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AssignmentRequest"];
            };
        };
        responses: {
            /** @description Assigned. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AssignedTask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    dispatchTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TaskDispatch"];
            };
        };
        responses: {
            /** @description Accepted and stored. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listTaskCheckIns: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of check-ins. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskCheckInList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    checkIn: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCheckIn"];
                "text/markdown": components["schemas"]["CheckInText"];
            };
        };
        responses: {
            /** @description The check-in as it was read. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckedIn"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    completeTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskCompletion"];
            };
        };
        responses: {
            /** @description Submitted. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listTaskChecks: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of checks. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckRunList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    requestTaskChecks: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Requested. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CheckRunList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    reviewTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskReview"];
            };
        };
        responses: {
            /** @description Decided. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    failTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description Failed. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    cancelTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Reason"];
            };
        };
        responses: {
            /** @description Cancelled. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    linkTsg: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
                /**
                 * @description Id of the guide.
                 * @example port-already-in-use
                 */
                tsg_id: components["parameters"]["TsgId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Linked. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    unlinkTsg: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
                /**
                 * @description Id of the guide.
                 * @example port-already-in-use
                 */
                tsg_id: components["parameters"]["TsgId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Not linked. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Task"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getTaskContext: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The section. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": components["schemas"]["PromptSection"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getTaskPayload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The output. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluatedPayload"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    flagTaskQuality: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewQualityFlag"];
            };
        };
        responses: {
            /** @description The flag. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QualityFlag"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getStats: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The current counts. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskStats"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    askAboutSubtask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSubtaskQuestion"];
            };
        };
        responses: {
            /** @description The question. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Question"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    askAboutTask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the task. */
                id: components["parameters"]["TaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTaskQuestion"];
            };
        };
        responses: {
            /** @description The question. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Question"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listQuestions: {
        parameters: {
            query?: {
                /** @description Only questions in this state. */
                status?: components["schemas"]["QuestionStatus"];
                /**
                 * @description Only questions to this parent session.
                 * @example research-1
                 */
                session_id?: string;
                /** @description Only questions about this task, also those of the subtasks that run it. */
                task_id?: string;
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
                /**
                 * @deprecated
                 * @description Use `session_id`.
                 */
                session?: string;
                /**
                 * @deprecated
                 * @description Use `task_id`.
                 */
                task?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of questions. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QuestionList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getQuestion: {
        parameters: {
            query?: {
                /** @description Seconds to wait for the answer. */
                wait_seconds?: number;
            };
            header?: never;
            path: {
                /** @description Id of the question. */
                id: components["parameters"]["QuestionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The question. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Question"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    answerQuestion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the question. */
                id: components["parameters"]["QuestionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAnswer"];
            };
        };
        responses: {
            /** @description The answered question. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Question"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    withdrawQuestion: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the question. */
                id: components["parameters"]["QuestionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The withdrawn question. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Question"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listSchedules: {
        parameters: {
            query?: {
                /** @description true: active only. false: paused and ended only. all: every schedule. */
                active?: components["schemas"]["ScheduleFilter"];
                /**
                 * @description Only those of this agent.
                 * @example default
                 */
                agent_id?: components["parameters"]["AgentId"];
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of schedules. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createSchedule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewSchedule"];
            };
        };
        responses: {
            /** @description Stored. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    previewSchedule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchedulePreviewRequest"];
            };
        };
        responses: {
            /** @description How the phrase is read. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulePreview"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getSchedule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of what the caller has, several of them, or `*`. 304 without a body while it is the same.
                 * @example "mB3wdLv6PfFVLNYMKc8rDg"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the schedule. */
                id: components["parameters"]["ScheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The schedule. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            /** @description It has not changed since the `ETag` in `If-None-Match`. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    deactivateSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
                "If-Match"?: components["parameters"]["OptionalIfMatch"];
            };
            path: {
                /** @description Id of the schedule. */
                id: components["parameters"]["ScheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deactivated, or already finished. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    reviseSchedule: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
                "If-Match"?: components["parameters"]["OptionalIfMatch"];
            };
            path: {
                /** @description Id of the schedule. */
                id: components["parameters"]["ScheduleId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchedulePatch"];
            };
        };
        responses: {
            /** @description The schedule as it is now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    pauseSchedule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the schedule. */
                id: components["parameters"]["ScheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Paused, or finished if no later slot remains. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    resumeSchedule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the schedule. */
                id: components["parameters"]["ScheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Active. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Schedule"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    triggerSchedule: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the schedule. */
                id: components["parameters"]["ScheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Accepted and stored. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listScheduleRuns: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /** @description Id of the schedule. */
                id: components["parameters"]["ScheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of runs. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleRunList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listScheduleFirings: {
        parameters: {
            query?: {
                /** @description The last time that counts; absent: as far as the limit goes. */
                until?: string;
                /** @description How many at most. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the schedule. */
                id: components["parameters"]["ScheduleId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The firings. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleFirings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listSubagents: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sub-agents. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubagentList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getSubagent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of what the caller has, several of them, or `*`. 304 without a body while it is the same.
                 * @example "mB3wdLv6PfFVLNYMKc8rDg"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Name of the sub-agent: at most 64 lower-case letters, digits and dashes, starting with a letter; or Explore, Plan, general-purpose.
                 * @example memory-specialist
                 */
                name: components["parameters"]["Name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The definition. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subagent"];
                    "text/markdown": components["schemas"]["SubagentMarkdown"];
                };
            };
            /** @description It has not changed since the `ETag` in `If-None-Match`. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    putSubagent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
                "If-Match"?: components["parameters"]["OptionalIfMatch"];
            };
            path: {
                /**
                 * @description Name of the sub-agent: at most 64 lower-case letters, digits and dashes, starting with a letter; or Explore, Plan, general-purpose.
                 * @example memory-specialist
                 */
                name: components["parameters"]["Name"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/markdown": components["schemas"]["SubagentMarkdown"];
            };
        };
        responses: {
            /** @description Replaced the definition that was put before. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PutSubagent"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PutSubagent"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteSubagent: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
                "If-Match"?: components["parameters"]["OptionalIfMatch"];
            };
            path: {
                /**
                 * @description Name of the sub-agent: at most 64 lower-case letters, digits and dashes, starting with a letter; or Explore, Plan, general-purpose.
                 * @example memory-specialist
                 */
                name: components["parameters"]["Name"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    importSubagents: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "file": [
                 *         "---\nname: reviewer\ndescription: Reviews a change.\ntools: Read, Grep\n---\n\nReview it.\n"
                 *       ]
                 *     }
                 */
                "multipart/form-data": {
                    file?: string[];
                };
                "application/zip": string;
                "application/x-tar": string;
                "application/gzip": string;
            };
        };
        responses: {
            /** @description The outcome of each file. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubagentImport"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    spawnSubagent: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Name of the sub-agent: at most 64 lower-case letters, digits and dashes, starting with a letter; or Explore, Plan, general-purpose.
                 * @example memory-specialist
                 */
                name: components["parameters"]["Name"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubagentSpawn"];
            };
        };
        responses: {
            /** @description The sub-agent has ended, with its result. */
            200: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpawnResult"];
                };
            };
            /** @description Accepted and stored; the sub-agent has not ended yet. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SpawnResult"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    checkSubagentTool: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Name of the sub-agent: at most 64 lower-case letters, digits and dashes, starting with a letter; or Explore, Plan, general-purpose.
                 * @example memory-specialist
                 */
                name: components["parameters"]["Name"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolCheck"];
            };
        };
        responses: {
            /** @description Whether the tool is allowed. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listTsgs: {
        parameters: {
            query?: {
                /** @description Words to find in id, title, patterns or content; `"…"`, `OR` and `-` as in a search engine. */
                q?: string;
                /** @description Only guides for this technology. Upper or lower case. */
                technology?: string;
                /** @description Only guides of this severity. */
                severity?: components["schemas"]["TsgSeverity"];
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of guides. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TsgList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createTsg: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewTsg"];
            };
        };
        responses: {
            /** @description Stored. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tsg"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    scanTsgs: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TsgScan"];
            };
        };
        responses: {
            /** @description The matching guides; empty if there are none. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TsgScanResult"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getTsg: {
        parameters: {
            query?: {
                /**
                 * @description The session that reads the guide. If set, the guide counts as read.
                 * @example research-1
                 */
                session_id?: string;
            };
            header?: {
                /**
                 * @description The `ETag` of what the caller has, several of them, or `*`. 304 without a body while it is the same.
                 * @example "mB3wdLv6PfFVLNYMKc8rDg"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /**
                 * @description Id of the guide.
                 * @example port-already-in-use
                 */
                tsg_id: components["parameters"]["TsgId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The guide. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tsg"];
                    "text/markdown": components["schemas"]["TsgMarkdown"];
                };
            };
            /** @description It has not changed since the `ETag` in `If-None-Match`. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    putTsg: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
                "If-Match"?: components["parameters"]["OptionalIfMatch"];
            };
            path: {
                /**
                 * @description Id of the guide.
                 * @example port-already-in-use
                 */
                tsg_id: components["parameters"]["TsgId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "text/markdown": components["schemas"]["TsgMarkdown"];
            };
        };
        responses: {
            /** @description Replaced the existing guide. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tsg"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tsg"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteTsg: {
        parameters: {
            query?: {
                /** @description Delete the guide even if tasks link it. Without a value: true. */
                force?: boolean;
            };
            header?: {
                /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
                "If-Match"?: components["parameters"]["OptionalIfMatch"];
            };
            path: {
                /**
                 * @description Id of the guide.
                 * @example port-already-in-use
                 */
                tsg_id: components["parameters"]["TsgId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    updateTsg: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
                "If-Match"?: components["parameters"]["OptionalIfMatch"];
            };
            path: {
                /**
                 * @description Id of the guide.
                 * @example port-already-in-use
                 */
                tsg_id: components["parameters"]["TsgId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TsgPatch"];
            };
        };
        responses: {
            /** @description The guide as it is now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Tsg"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    recordTsgFeedback: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description Id of the guide.
                 * @example port-already-in-use
                 */
                tsg_id: components["parameters"]["TsgId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TsgFeedback"];
            };
        };
        responses: {
            /** @description Recorded. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TsgUsage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getTsgUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the guide.
                 * @example port-already-in-use
                 */
                tsg_id: components["parameters"]["TsgId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The usage figures. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TsgUsage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listEvaluations: {
        parameters: {
            query?: {
                /** @description Only evaluations about this task. */
                task_id?: string;
                /** @description Only evaluations of the result of this subtask. */
                subtask_id?: string;
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of evaluations. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createEvaluation: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewEvaluation"];
            };
        };
        responses: {
            /** @description Evaluated and stored. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Evaluation"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getEvaluationStats: {
        parameters: {
            query?: {
                /** @description Only outputs first evaluated at or after this time. Default: 30 days before `until`. */
                since?: string;
                /** @description Only outputs first evaluated before this time. Default: now. */
                until?: string;
                /** @description How scores are grouped; `agreement`: verdicts beside what people say. */
                by?: components["schemas"]["StatsGrouping"];
                /**
                 * @deprecated
                 * @description Use `since`.
                 */
                from?: string;
                /**
                 * @deprecated
                 * @description Use `until`.
                 */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The totals and the groups. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnyEvaluationStats"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getEvaluation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the evaluation. */
                id: components["parameters"]["EvaluationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The evaluation. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Evaluation"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getEvaluationPayload: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the evaluation. */
                id: components["parameters"]["EvaluationId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The output. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluatedPayload"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    exportTraining: {
        parameters: {
            query?: {
                format?: components["schemas"]["TrainingFormat"];
                /** @description Only items with this quality flag, whether or not they are training examples. */
                quality?: components["schemas"]["Quality"];
                /** @description Only items with all of these tags, separated by commas. */
                tags?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The examples. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getUsage: {
        parameters: {
            query?: {
                /** @description Only what ended at or after this time. Default: 30 days before `until`. */
                since?: string;
                /** @description Only what ended before this time. Default: now. */
                until?: string;
                by?: components["schemas"]["UsageGrouping"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The totals and the groups. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsageReport"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    searchMemory: {
        parameters: {
            query: {
                /** @description Words or a sentence; `"…"`, `OR` and `-` as in a search engine. */
                q: string;
                /** @description Only items of this kind. */
                kind?: components["schemas"]["MemoryKind"];
                /**
                 * @description Only those of this agent.
                 * @example default
                 */
                agent_id?: components["parameters"]["AgentId"];
                /** @description The maximum number of items. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The found items. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemorySearch"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    learnFact: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewFact"];
            };
        };
        responses: {
            /** @description Stored. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fact"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getFact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the fact. */
                id: components["parameters"]["FactId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The fact. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Fact"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteFact: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the fact. */
                id: components["parameters"]["FactId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The fact does not exist any more. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    getEpisode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The episode. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Episode"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    forgetEpisode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forgotten. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    claimSubtask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequest"];
            };
        };
        responses: {
            /** @description A subtask, its prompt and its lease. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimedSubtask"];
                };
            };
            /** @description No subtask is waiting. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    heartbeat: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HeartbeatRequest"];
            };
        };
        responses: {
            /** @description The lease holds until `expires_at`. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeartbeatAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    completeSubtask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteRequest"];
            };
        };
        responses: {
            /** @description The subtask as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    failSubtask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FailRequest"];
            };
        };
        responses: {
            /** @description The subtask as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    releaseSubtask: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReleaseRequest"];
            };
        };
        responses: {
            /** @description The subtask as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    waitForAnswer: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the subtask. */
                id: components["parameters"]["SubtaskId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WaitRequest"];
            };
        };
        responses: {
            /** @description The subtask as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subtask"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    injectSession: {
        parameters: {
            query?: {
                ack?: components["schemas"]["InboxAck"];
            };
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The session, as its harness names it.
                 * @example research-1
                 */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["InjectionRequest"];
            };
        };
        responses: {
            /** @description The undelivered items of the session; empty if there are none. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Injection"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    acknowledgeInjection: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The session, as its harness names it.
                 * @example research-1
                 */
                id: components["parameters"]["SessionId"];
                /** @description `claim_id` of the injection. */
                claim_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Acknowledged. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    listMessages: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path: {
                /**
                 * @description The session, as its harness names it.
                 * @example writer-1
                 */
                id: components["parameters"]["SessionSessionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of messages. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postMessage: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The session, as its harness names it.
                 * @example writer-1
                 */
                id: components["parameters"]["SessionSessionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMessage"];
            };
        };
        responses: {
            /** @description Stored. Content longer than 64 KiB is left out of the answer. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Message"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    claimInbox: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The session, as its harness names it.
                 * @example research-1
                 */
                id: components["parameters"]["SessionId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["InboxClaimRequest"];
            };
        };
        responses: {
            /** @description The waiting items, oldest first. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimedInbox"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    acknowledgeInbox: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /**
                 * @description The session, as its harness names it.
                 * @example research-1
                 */
                id: components["parameters"]["SessionId"];
                /** @description `claim_id` of the claim. */
                claim_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Acknowledged. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    claudeCodeHook: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaudeCodeHookInput"];
            };
        };
        responses: {
            /** @description Context for Claude Code, a denial, or one more turn; empty if there is none of these. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaudeCodeHookAnswer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    streamEvents: {
        parameters: {
            query?: {
                /** @description Only events of this type. */
                type?: components["schemas"]["EventType"];
                /**
                 * @description Only events about this subtask, task or guide.
                 * @example port-already-in-use
                 */
                subject?: string;
                /** @description Continue after this event id; 0 starts with the oldest kept event. The header `Last-Event-ID` takes precedence. */
                after?: components["parameters"]["After"];
            };
            header?: {
                /** @description Id of the last event that arrived. */
                "Last-Event-ID"?: components["parameters"]["LastEventId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A stream without end. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Event"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of webhooks. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewWebhook"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the webhook. */
                id: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the webhook. */
                id: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    updateWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the webhook. */
                id: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookPatch"];
            };
        };
        responses: {
            /** @description The webhook as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the webhook. */
                id: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SecretRotation"];
            };
        };
        responses: {
            /** @description Replaced. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the webhook. */
                id: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Stored; a worker sends it at once. */
            202: {
                headers: {
                    Location: components["headers"]["Location"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDelivery"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
                status?: components["parameters"]["Status"];
            };
            header?: never;
            path: {
                /** @description Id of the webhook. */
                id: components["parameters"]["WebhookId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDeliveryList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getWebhookDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the webhook. */
                id: components["parameters"]["WebhookId"];
                /** @description Id of the delivery. */
                delivery_id: components["parameters"]["DeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDelivery"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    redeliverToWebhook: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the webhook. */
                id: components["parameters"]["WebhookId"];
                /** @description Id of the delivery. */
                delivery_id: components["parameters"]["DeliveryId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is due now. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDelivery"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
                receiver_kind?: components["schemas"]["ReceiverKind"];
                /** @description Only deliveries to this one. */
                receiver_id?: string;
                status?: components["parameters"]["Status"];
                /**
                 * @description Only events of this subject: the id of a subtask, task, schedule or evaluation, or the `tsg_id` of a guide.
                 * @example 0198c9a1-0000-7000-8000-000000000001
                 */
                subject?: string;
                /** @description Only deliveries that were made at this time or later. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of deliveries. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDeliveryList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getDelivery: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the delivery. */
                id: components["parameters"]["DeliverieId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The delivery. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDelivery"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    redeliver: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the delivery. */
                id: components["parameters"]["DeliverieId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is due now. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDelivery"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listRunners: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All runners. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunnerList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listWorkers: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of workers. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkerList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    drainWorker: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description Id of the worker. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["NewDrain"];
            };
        };
        responses: {
            /** @description The worker will drain. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Drain"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /**
                 * @description Only writes of this actor, by its id.
                 * @example 0198c9a0-0000-7000-8000-00000000000a
                 */
                actor?: components["parameters"]["Actor"];
                /**
                 * @description Only this operation, tool or command.
                 * @example createApiKey
                 */
                operation?: components["parameters"]["Operation"];
                /**
                 * @description Only writes that name or have made what has this id.
                 * @example 0198c9a0-0000-7000-8000-00000000000a
                 */
                subject?: components["parameters"]["Subject"];
                door?: components["parameters"]["Door"];
                /** @description Only writes at this time or later. */
                since?: components["parameters"]["Since"];
                /** @description Only writes before this time. */
                until?: components["parameters"]["Until"];
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of entries. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    exportAudit: {
        parameters: {
            query?: {
                /**
                 * @description Only writes of this actor, by its id.
                 * @example 0198c9a0-0000-7000-8000-00000000000a
                 */
                actor?: components["parameters"]["Actor"];
                /**
                 * @description Only this operation, tool or command.
                 * @example createApiKey
                 */
                operation?: components["parameters"]["Operation"];
                /**
                 * @description Only writes that name or have made what has this id.
                 * @example 0198c9a0-0000-7000-8000-00000000000a
                 */
                subject?: components["parameters"]["Subject"];
                door?: components["parameters"]["Door"];
                /** @description Only writes at this time or later. */
                since?: components["parameters"]["Since"];
                /** @description Only writes before this time. */
                until?: components["parameters"]["Until"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The entries. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getProject: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description The `ETag` of what the caller has, several of them, or `*`. 304 without a body while it is the same.
                 * @example "mB3wdLv6PfFVLNYMKc8rDg"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                /** @description Id of the project. */
                id: components["parameters"]["ProjectId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The project. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description It has not changed since the `ETag` in `If-None-Match`. */
            304: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    updateProject: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of what the change was made from: 412 if it has changed since. Without it, the last write wins. */
                "If-Match"?: components["parameters"]["OptionalIfMatch"];
            };
            path: {
                /** @description Id of the project. */
                id: components["parameters"]["ProjectId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectPatch"];
            };
        };
        responses: {
            /** @description The project as it is now. */
            200: {
                headers: {
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listApiKeys: {
        parameters: {
            query?: {
                /** @description How many items at most. */
                limit?: components["parameters"]["Limit"];
                /** @description `next_cursor` of the page before (null on the last), from the same path with the same filters. */
                cursor?: components["parameters"]["Cursor"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys. */
            200: {
                headers: {
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createApiKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description Makes a repetition safe: the first answer comes again. Kept for at least 24 hours.
                 * @example spawn-2026-03-02-1
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewApiKey"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreatedApiKey"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    revokeApiKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoked. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Alive. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Ready. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            /** @description Not ready. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Readiness"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description In the text format of Prometheus. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example # TYPE muster_event_subscriptions gauge
                     *     muster_event_subscriptions 3
                     */
                    "text/plain": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
}
