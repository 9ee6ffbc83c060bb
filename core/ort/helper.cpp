#include "core/ort/helper.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/base/child_process.h"
#include "core/base/helper_program.h"
#include "core/base/visible_text.h"
#include "core/document/native_library.h"
#include "core/ort/request.h"
#include "core/ort/work_folder.h"

namespace sonde::ort {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollStep{5};
constexpr const char* kNoAnswer = "ONNX Runtime ended without an answer";

/// A library is loaded only by the content that the user agreed to.
base::Result<std::string> agreedHash(const EngineOptions& options) {
    SONDE_ASSIGN(const auto library, document::NativeLibrary::read(options.library));
    if (options.allowNative || document::isNativeAgreed(library->hash())) return library->hash();
    return base::unreadable(
        "ONNX Runtime is a shared library: loading it runs its code with your rights, and you have not agreed to that",
        options.library.string(), "--allow-native agrees for this command (SHA-256 " + library->hash() + ")");
}

std::string firstLineOf(const fs::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// Why a process that ended left no reply, with what it was doing and what the library printed last.
base::Error crashed(int status, const fs::path& folder, const EngineOptions& options) {
    std::string what = kNoAnswer;
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        what = "ONNX Runtime crashed with signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
    } else if (WIFEXITED(status)) {
        what += ", with exit status " + std::to_string(WEXITSTATUS(status));
    }
    if (const std::string stage = firstLineOf(folder / kStageFile); !stage.empty()) what += " while " + stage;
    base::Error error = base::runError(what, options.library.string(),
                                       "the library ran in a process of its own: nothing else is affected");
    if (const std::string line = firstLineOf(folder / kLogFile); !line.empty())
        error.withNote("it printed: " + base::visibleText(line));
    return error;
}

/// Waits for the helper, and ends it if it must not go on. The status that it left.
base::Result<int> waitFor(pid_t pid, const fs::path& folder, const EngineOptions& options,
                          const base::WorkContext& work) {
    const auto deadline = Clock::now() + options.timeout;
    while (true) {
        int status = 0;
        const pid_t ended = ::waitpid(pid, &status, WNOHANG);
        if (ended == pid) return status;
        if (ended < 0 && errno != EINTR) return base::runError(kNoAnswer, options.library.string());
        if (work.cancelled()) {
            base::endChild(pid);
            return base::cancelled("running in ONNX Runtime");
        }
        if (Clock::now() >= deadline) {
            const std::string stage = firstLineOf(folder / kStageFile);
            base::endChild(pid);
            return base::runError("ONNX Runtime did not answer within " + std::to_string(options.timeout.count()) +
                                      " s and was ended" + (stage.empty() ? "" : " while " + stage),
                                  options.library.string(), "--timeout SECONDS allows more");
        }
        std::this_thread::sleep_for(kPollStep);
    }
}

base::Result<int> runHelper(const fs::path& folder, const EngineOptions& options, const base::WorkContext& work) {
    const fs::path program = options.helper.empty() ? findHelper() : options.helper;
    if (program.empty())
        return base::runError("the helper program sonde-ort is not installed", {},
                              "it belongs beside sonde, or in ../libexec/sonde from there");
    // Ctrl-C reaches Sonde alone, which ends the helper. It has no input; what it prints goes to a file.
    base::ChildSettings settings(true);
    const std::string log = (folder / kLogFile).string();
    ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&settings.actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    ::posix_spawn_file_actions_adddup2(&settings.actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t pid = -1;
    if (const int failed = settings.start({program.string(), folder.string()}, pid); failed != 0)
        return base::runError(std::string("the helper cannot be started: ") + std::strerror(failed), program.string());
    return waitFor(pid, folder, options, work);
}

/// Times of the profile: a JSON array of events, those of operations called "NAME_kernel_time", in µs.
std::map<std::string, std::int64_t> timesOf(const fs::path& path) {
    using nlohmann::json;
    constexpr std::string_view kSuffix = "_kernel_time";
    std::map<std::string, std::int64_t> times;
    std::ifstream file(path);
    const json events = json::parse(file, nullptr, false);
    if (!events.is_array()) return times;
    for (const json& event : events) {
        if (!event.is_object() || !event.contains("name") || !event["name"].is_string()) continue;
        const std::string name = event["name"].get<std::string>();
        if (!name.ends_with(kSuffix) || !event.contains("dur") || !event["dur"].is_number()) continue;
        constexpr double kNsPerUs = 1000;
        times[name.substr(0, name.size() - kSuffix.size())] +=
            static_cast<std::int64_t>(event["dur"].get<double>() * kNsPerUs);
    }
    return times;
}

base::Result<void> writeTask(const EngineTask& task, const EngineOptions& options, std::string hash,
                             const fs::path& folder) {
    std::error_code ignored;
    Request request{fs::absolute(options.library, ignored).string(),
                    std::move(hash),
                    fs::absolute(task.weightsFolder, ignored).string(),
                    {},
                    task.outputs,
                    static_cast<int>(options.threads)};
    std::vector<io::NamedTensor> arrays;
    for (const auto& [name, tensor] : task.inputs) {
        arrays.emplace_back(std::to_string(arrays.size()), tensor);
        request.inputs.push_back(name);
    }
    SONDE_TRY(io::writeNpz(folder / kInputsFile, arrays));
    std::ofstream model(folder / kModelFile, std::ios::binary);
    model.write(task.model.data(), static_cast<std::streamsize>(task.model.size()));
    model.close();
    if (!model) return base::runError("the model cannot be written for the helper", (folder / kModelFile).string());
    return write(request, folder);
}

base::Result<EngineRun> readAnswer(const EngineTask& task, const EngineOptions& options, Reply reply,
                                   const fs::path& folder) {
    if (!reply.failure.empty()) {
        const bool hasRun = reply.stage == "running the model" || reply.stage == "reading the values";
        const std::string what = "ONNX Runtime" + (reply.version.empty() ? "" : " " + reply.version) +
                                 " failed while " + reply.stage + ": " + base::visibleText(reply.failure);
        return hasRun ? base::runError(what, options.library.string())
                      : base::unreadable(what, options.library.string());
    }
    EngineRun run{std::move(reply.version), {}, {}, std::move(reply.notes)};
    SONDE_ASSIGN(const io::NpzFile file, io::NpzFile::open(folder / kValuesFile));
    for (std::size_t i = 0; i < task.outputs.size(); ++i) {
        const std::string key = std::to_string(i);
        if (!file.has(key)) continue;
        SONDE_ASSIGN(const tensor::Tensor tensor, file.read(key));
        SONDE_ASSIGN(tensor::Tensor own, tensor.clone());  // the file goes with the folder
        run.values.emplace(task.outputs[i], std::move(own));
    }
    if (!reply.profile.empty()) run.elapsedNs = timesOf(reply.profile);
    return run;
}

}  // namespace

base::Result<EngineRun> runInEngine(const EngineTask& task, const EngineOptions& options,
                                    const base::WorkContext& work) {
    SONDE_ASSIGN(std::string hash, agreedHash(options));
    WorkFolder folder;
    SONDE_TRY(folder.make());
    SONDE_TRY(writeTask(task, options, std::move(hash), folder.path()));
    work.report("running in ONNX Runtime");
    SONDE_ASSIGN(const int status, runHelper(folder.path(), options, work));
    auto reply = readReply(folder.path());
    if (status != 0 || !reply) return crashed(status, folder.path(), options);
    return readAnswer(task, options, std::move(*reply), folder.path());
}

fs::path findHelper() { return base::findHelperProgram("sonde-ort", "SONDE_ORT_HELPER"); }

}  // namespace sonde::ort
