import com.fasterxml.jackson.databind.JsonNode;

/** A client that later requests name. */
interface Handle {
    Object run(String op, JsonNode request) throws Exception;
}
