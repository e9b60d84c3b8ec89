import com.google.gson.Gson;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.SessionsApi;
import org.openapitools.client.api.SubtasksApi;
import org.openapitools.client.model.InboxClaimRequest;
import org.openapitools.client.model.InboxItem;
import org.openapitools.client.model.NewSubtask;
import org.openapitools.client.model.Subtask;
import org.openapitools.client.model.SubtaskStatus;

/** Spawn, wait and read, with what openapi-generator makes of openapi.yaml for OkHttp and Gson. clients.test.ts runs it. */
public final class Journey {
  private static final List<SubtaskStatus> ENDED = List.of(SubtaskStatus.COMPLETED, SubtaskStatus.FAILED, SubtaskStatus.CANCELLED);

  public static void main(String[] arguments) throws Exception {
    String session = System.getenv("SESSION");
    ApiClient client = new ApiClient();
    client.setBasePath(System.getenv("MUSTER_URL"));
    client.setBearerToken(System.getenv("MUSTER_KEY"));
    SubtasksApi subtasks = new SubtasksApi(client);
    SessionsApi sessions = new SessionsApi(client);

    NewSubtask wanted = new NewSubtask().task("Hold.").runner("hold").parentSessionId(session);
    Subtask subtask = subtasks.createSubtask(wanted).idempotencyKey(session).execute();
    System.out.println("holding " + subtask.getId());
    // Less than the ten seconds after which OkHttp gives up an answer.
    while (!ENDED.contains(subtask.getStatus())) subtask = subtasks.getSubtask(subtask.getId()).waitSeconds(5).execute();
    List<String> inbox = new ArrayList<>();
    for (int pass = 0; pass < 2; pass++) {
      for (InboxItem item : sessions.claimInbox(session).inboxClaimRequest(new InboxClaimRequest()).execute().getItems()) {
        inbox.add(String.valueOf(item.getSubtaskId()));
      }
    }
    var told = Map.of("id", subtask.getId().toString(), "status", subtask.getStatus().getValue(), "attempt", subtask.getAttempt(), "result", subtask.getResult(), "inbox", inbox);
    System.out.println(new Gson().toJson(told));
    // The threads of OkHttp would keep the program for a minute.
    System.exit(0);
  }
}
