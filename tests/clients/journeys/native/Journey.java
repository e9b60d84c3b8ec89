import com.fasterxml.jackson.databind.ObjectMapper;
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

/** Spawn, wait and read, with what openapi-generator makes of openapi.yaml for java.net.http. clients.test.ts runs it. */
public final class Journey {
  private static final List<SubtaskStatus> ENDED = List.of(SubtaskStatus.COMPLETED, SubtaskStatus.FAILED, SubtaskStatus.CANCELLED);

  public static void main(String[] arguments) throws Exception {
    String session = System.getenv("SESSION");
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("MUSTER_URL"));
    client.setRequestInterceptor((request) -> request.header("Authorization", "Bearer " + System.getenv("MUSTER_KEY")));
    SubtasksApi subtasks = new SubtasksApi(client);
    SessionsApi sessions = new SessionsApi(client);

    NewSubtask wanted = new NewSubtask().task("Hold.").runner("hold").parentSessionId(session);
    Subtask subtask = subtasks.createSubtask(SubtasksApi.APICreateSubtaskRequest.newBuilder().newSubtask(wanted).idempotencyKey(session).build());
    System.out.println("holding " + subtask.getId());
    while (!ENDED.contains(subtask.getStatus())) {
      subtask = subtasks.getSubtask(SubtasksApi.APIGetSubtaskRequest.newBuilder().id(subtask.getId()).waitSeconds(5).build());
    }
    List<String> inbox = new ArrayList<>();
    for (int pass = 0; pass < 2; pass++) {
      var claim = SessionsApi.APIClaimInboxRequest.newBuilder().id(session).inboxClaimRequest(new InboxClaimRequest()).build();
      for (InboxItem item : sessions.claimInbox(claim).getItems()) inbox.add(String.valueOf(item.getSubtaskId()));
    }
    var told = Map.of("id", subtask.getId(), "status", subtask.getStatus().getValue(), "attempt", subtask.getAttempt(), "result", subtask.getResult(), "inbox", inbox);
    System.out.println(new ObjectMapper().writeValueAsString(told));
  }
}
