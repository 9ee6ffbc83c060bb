#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>

#include "app/interrupt.h"
#include "app/verb.h"
#include "core/base/exception_text.h"
#include "core/base/nearest.h"

namespace {

using sonde::base::Error;

/// "sonde: error: WHAT (WHERE)". What names no place is told with the command that it is about, if there is one.
int report(Error error, const std::string& command) {
    std::fflush(stdout);
    if (error.where.empty() && error.notes.empty()) error.where = command;
    std::fprintf(stderr, "%s\n", error.commandLineText().c_str());
    return error.exitStatus();
}

/// CLI11's exceptions end here; its help texts go to standard output as they are.
int parseError(const CLI::App& app, const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::string command = "sonde";
    for (const CLI::App* verb : app.get_subcommands()) command += " " + verb->get_name();
    return report(sonde::base::usageError(error.what(), {}, command + " --help lists the options"), command);
}

/// A first word that is no verb is a model; one that is no file either, and does not look like the name of one, may
/// have been meant as a verb.
bool isMeantAsVerb(const std::string& word) {
    const bool isPlain = !word.empty() && word.front() != '-' && word.find_first_of("./\\:") == std::string::npos;
    std::error_code none;
    return isPlain &&
           std::ranges::find(sonde::app::verbs(), word, &sonde::app::Verb::id) == sonde::app::verbs().end() &&
           !std::filesystem::exists(word, none);
}

Error unknownVerb(const std::string& word) {
    std::vector<std::string> names;
    for (const sonde::app::Verb& verb : sonde::app::verbs()) names.emplace_back(verb.id);
    const std::string nearest = sonde::base::didYouMean(word, names);
    return sonde::base::usageError("'" + word + "' is neither a verb nor a file", {},
                                   (nearest.empty() ? "" : nearest + " ") + "sonde --help lists the verbs");
}

int openWindow(int argc, char** argv, const std::vector<std::string>& models) {
    if (const auto open = sonde::app::windowOpener()) return open(argc, argv, models);
    return report(
        sonde::base::usageError("this build has no window", {}, "sonde --help lists the verbs that work without one"),
        "sonde");
}

int runVerb(const std::string& verb, const std::function<sonde::base::Result<int>()>& action) {
    const std::string command = "sonde " + verb;
    try {
        const auto status = action();
        if (!status) return report(status.error(), {});
        // What did not fit on a disk is found out when it is written.
        if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)
            return report(sonde::base::runError("the output cannot be written", "standard output"), command);
        return *status;
    } catch (const std::bad_alloc&) {
        return report(sonde::base::runError("out of memory"), command);
    } catch (const std::exception& exception) {
        return report(sonde::base::runError(sonde::base::exceptionText(exception)), command);
    }
}

}  // namespace

int main(int argc, char** argv) {
    sonde::app::installInterruptHandler();
    CLI::App app(
        "Sonde: a desktop debugger for neural networks.\n"
        "Opens the window, on a model file or zoo:NAME if given; the verbs work without a display.");
    app.name("sonde");
    app.set_version_flag("--version", "sonde " SONDE_VERSION);
    app.require_subcommand(0, 1);
    std::vector<std::string> models;
    app.add_option("MODEL", models, "Model files (.onnx, TorchScript .pt) or zoo:NAME to open in the window");

    std::vector<std::function<sonde::base::Result<int>()>> actions;
    std::vector<CLI::App*> commands;
    for (const sonde::app::Verb& verb : sonde::app::verbs()) {
        CLI::App* command = app.add_subcommand(std::string(verb.id), std::string(verb.description));
        command->footer("Example:\n  " + std::string(verb.example));
        actions.push_back(verb.setup(*command));
        commands.push_back(command);
    }

    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (!words.empty() && words.front() == "help" && isMeantAsVerb(words.front())) {
        words.erase(words.begin());  // "help VERB"
        words.emplace_back("--help");
    }
    if (!words.empty() && isMeantAsVerb(words.front())) return report(unknownVerb(words.front()), {});
    try {
        std::ranges::reverse(words);  // as the parser takes them
        app.parse(std::move(words));
    } catch (const CLI::ParseError& error) {
        return parseError(app, error);
    } catch (const std::exception& exception) {
        return report(sonde::base::usageError(sonde::base::exceptionText(exception)), "sonde");
    }
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (commands[i]->parsed()) return runVerb(commands[i]->get_name(), actions[i]);
    }
    return openWindow(argc, argv, models);
}
