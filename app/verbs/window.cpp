#include <CLI/CLI.hpp>

#include "app/verb.h"
#include "ui/window/application.h"
#include "ui/window/script_commands.h"

namespace sonde::app {

Verb windowVerb() {
    return {"window", "Drive the real window with a script and save a screenshot",
            "sonde window zoo:resnet18 --screenshot resnet18.png --size 1280x800 --script steps.txt",
            [](CLI::App& command) {
                auto options = std::make_shared<window::DriveOptions>();
                command.add_option("MODEL", options->model, "Model file or zoo:NAME, opened first");
                command.add_option("--screenshot", options->screenshot, "PNG file to write at the end");
                command.add_option("--size", options->size, "Size of the window, WxH (default 1400x900)");
                command.add_option("--script", options->script,
                                   "File with a command a line; the commands are listed below");
                command.footer(window::scriptHelp() + '\n' + command.get_footer());
                command.add_flag(
                    "--allow-native", options->allowNative,
                    "Shared libraries (.so) may be opened without asking: this runs their code with your rights");
                command.add_option("--theme", options->theme, "light, dark or contrast (default light)")
                    ->check(CLI::IsMember({"light", "dark", "contrast", "high-contrast"}));
                return std::function<base::Result<int>()>([options]() -> base::Result<int> {
                    if (options->screenshot.empty() && options->script.empty())
                        return base::usageError("there is nothing to do: neither --screenshot nor --script is given",
                                                "window", "`sonde MODEL` opens the window");
                    return window::driveWindow(*options);
                });
            }};
}

}  // namespace sonde::app
