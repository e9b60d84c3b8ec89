// Spawn, wait and read, with what oapi-codegen makes of openapi.yaml. clients.test.ts runs it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"muster.test/client/generated"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// expect ends the program when the answer is another than the one of this status.
func expect[T any](answer *T, status string, body []byte) T {
	if answer == nil {
		panic(fmt.Sprintf("%s: %s", status, body))
	}
	return *answer
}

func main() {
	session := os.Getenv("SESSION")
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("MUSTER_KEY"))
		return nil
	}
	client := must(generated.NewClientWithResponses(os.Getenv("MUSTER_URL"), generated.WithRequestEditorFn(authorize)))
	ctx := context.Background()

	runner := "hold"
	spawned := must(client.CreateSubtaskWithResponse(ctx, &generated.CreateSubtaskParams{IdempotencyKey: &session},
		generated.NewSubtask{Task: "Hold.", Runner: &runner, ParentSessionId: &session}))
	subtask := expect(spawned.JSON202, spawned.Status(), spawned.Body)
	fmt.Printf("holding %s\n", subtask.Id)

	for subtask.Status != generated.SubtaskStatusCompleted && subtask.Status != generated.SubtaskStatusFailed && subtask.Status != generated.SubtaskStatusCancelled {
		read := must(client.GetSubtaskWithResponse(ctx, subtask.Id, &generated.GetSubtaskParams{WaitSeconds: pointer(5)}))
		subtask = expect(read.JSON200, read.Status(), read.Body)
	}

	inbox := []string{}
	for range 2 {
		claimed := must(client.ClaimInboxWithResponse(ctx, session, nil, generated.InboxClaimRequest{}))
		for _, item := range expect(claimed.JSON200, claimed.Status(), claimed.Body).Items {
			inbox = append(inbox, item.SubtaskId.String())
		}
	}
	told := must(json.Marshal(map[string]any{"id": subtask.Id, "status": subtask.Status, "attempt": subtask.Attempt, "result": subtask.Result, "inbox": inbox}))
	fmt.Println(string(told))
}

func pointer[T any](value T) *T { return &value }
