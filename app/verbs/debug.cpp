#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/inputs.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/session/debug_commands.h"

namespace sonde::app {

namespace {

struct DebugOptions {
    ModelOptions model;
    InputChoice inputs;
    std::string script;
    std::size_t threads = 0;
    std::size_t memoryMib = session::debug::KeptLimits::kDefaultMemory >> 20;
    std::size_t diskMib = session::debug::KeptLimits::kDefaultDisk >> 20;
    bool exact = false;
};

/// Of a line that is longer than commands may be only the first of it is kept: enough to be refused.
bool readLine(std::FILE* file, std::string& line) {
    line.clear();
    int c = std::fgetc(file);
    if (c == EOF) return false;
    for (; c != EOF && c != '\n'; c = std::fgetc(file))
        if (line.size() <= session::DebugCommands::kMaxLine) line.push_back(static_cast<char>(c));
    return true;
}

class DebugVerb {
  public:
    explicit DebugVerb(DebugOptions& options) : m_options(options), m_session(commandLineWork()) {}

    base::Result<int> run() {
        SONDE_ASSIGN(const auto document, m_options.model.load(m_options.inputs.spec));
        SONDE_ASSIGN(const auto cases, inputsFor(*document, m_options.inputs));
        if (cases.size() != 1)
            return base::usageError(fmt::format("the inputs are of {} cases", cases.size()), "--input-data",
                                    "debug one of them: file.npz#case1");
        using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
        File script(nullptr, &std::fclose);
        if (!m_options.script.empty()) {
            script.reset(std::fopen(m_options.script.c_str(), "rb"));
            if (!script) return base::usageError("the script cannot be read", m_options.script);
        }
        showIn(m_session, document, true);
        session::RunSettings settings;
        settings.threads = m_options.threads;
        settings.seed = seedOf(*document, m_options.inputs);
        settings.exact = m_options.exact;
        m_session.runs().setSettings(settings);
        m_session.runs().giveValues(cases.front().values);
        if (!m_options.inputs.spec.empty()) keepInputData();
        m_session.debugger().setLimits({m_options.memoryMib << 20, m_options.diskMib << 20, {}});
        return obey(script ? script.get() : stdin);
    }

  private:
    /// For session files that are saved.
    void keepInputData() {
        io::SessionFile base = m_session.fileBase();
        base.inputs.clear();
        base.inputData = m_options.inputs.spec;
        base.inputPreset = m_options.inputs.image;
        std::error_code ignored;
        const auto here = std::filesystem::current_path(ignored);
        m_session.setFileBase(std::move(base), here);
    }

    base::Result<int> obey(std::FILE* file) {
        const base::WorkContext work = commandLineWork();
        session::DebugCommands commands(m_session, work);
        std::string line;
        while (!commands.hasQuit() && readLine(file, line)) {
            if (const std::string answer = commands.answer(line); !answer.empty()) {
                fmt::print("{}\n", answer);
                std::fflush(stdout);
            }
            if (work.cancelled()) return base::cancelled("while debugging");
        }
        return 0;
    }

    DebugOptions& m_options;
    session::Session m_session;
};

std::string commandTable() {
    std::string text = "Commands, one a line, each answered by a line of JSON:\n";
    for (const session::DebugCommandInfo& info : session::DebugCommands::all())
        text += fmt::format("  {:72} {}\n", info.syntax, info.summary);
    return text;
}

}  // namespace

Verb debugVerb() {
    return {"debug", "Go through a run node by node, forward and back, by commands on standard input",
            "printf 'break op:Relu\\nrun\\nstep back\\n' | sonde debug model.onnx --input-data photo.png",
            [](CLI::App& command) {
                auto options = std::make_shared<DebugOptions>();
                options->model.addTo(command);
                options->model.makesEdits = true;
                options->inputs.addTo(command);
                command.add_option("--script", options->script, "Read the commands from this file");
                addSeed(command, options->inputs.seed, "Seed of random inputs and operators");
                command
                    .add_option("--memory", options->memoryMib,
                                "MiB of memory for values of the run; others go to disk and come back when asked for. "
                                "What an operation needs while it is done comes on top")
                    ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 24))
                    ->capture_default_str();
                command
                    .add_option("--disk", options->diskMib,
                                "MiB of disk for them, in $TMPDIR or /var/tmp; beyond that they are computed again")
                    ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 24))
                    ->capture_default_str();
                command.add_flag("--exact", options->exact,
                                 "Use no optimisation that rounds differently from the definition");
                addThreads(command, options->threads);
                command.footer(commandTable() + '\n' + command.get_footer());
                return std::function<base::Result<int>()>([options] { return DebugVerb(*options).run(); });
            }};
}

}  // namespace sonde::app
