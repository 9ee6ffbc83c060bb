#include "core/ort/request.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace sonde::ort {

namespace {

using nlohmann::json;

constexpr const char* kRequestFile = "request.json";
constexpr const char* kReplyFile = "reply.json";

base::Result<void> writeJson(const json& object, const std::filesystem::path& path) {
    std::ofstream file(path);
    // Names in models may be any bytes.
    file << object.dump(-1, ' ', true, json::error_handler_t::replace);
    file.close();
    return file ? base::Result<void>() : base::runError("the file cannot be written", path.string());
}

base::Result<json> readJson(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file) return base::runError("the file cannot be read", path.string());
    json object = json::parse(file, nullptr, false);
    if (!object.is_object()) return base::runError("the file is no JSON object", path.string());
    return object;
}

template <typename T>
T get(const json& object, const char* key) {
    try {
        return object.at(key).get<T>();
    } catch (const json::exception&) {
        return {};
    }
}

}  // namespace

base::Result<void> write(const Request& request, const std::filesystem::path& folder) {
    return writeJson({{"library", request.library},
                      {"hash", request.hash},
                      {"weights_folder", request.weightsFolder},
                      {"inputs", request.inputs},
                      {"outputs", request.outputs},
                      {"threads", request.threads}},
                     folder / kRequestFile);
}

base::Result<void> write(const Reply& reply, const std::filesystem::path& folder) {
    return writeJson({{"failure", reply.failure},
                      {"stage", reply.stage},
                      {"version", reply.version},
                      {"profile", reply.profile},
                      {"notes", reply.notes}},
                     folder / kReplyFile);
}

base::Result<Request> readRequest(const std::filesystem::path& folder) {
    SONDE_ASSIGN(const json object, readJson(folder / kRequestFile));
    using Names = std::vector<std::string>;
    return Request{get<std::string>(object, "library"),
                   get<std::string>(object, "hash"),
                   get<std::string>(object, "weights_folder"),
                   get<Names>(object, "inputs"),
                   get<Names>(object, "outputs"),
                   get<int>(object, "threads")};
}

base::Result<Reply> readReply(const std::filesystem::path& folder) {
    SONDE_ASSIGN(const json object, readJson(folder / kReplyFile));
    return Reply{get<std::string>(object, "failure"), get<std::string>(object, "stage"),
                 get<std::string>(object, "version"), get<std::string>(object, "profile"),
                 get<std::vector<std::string>>(object, "notes")};
}

}  // namespace sonde::ort
