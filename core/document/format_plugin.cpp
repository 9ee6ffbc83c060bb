#include "core/document/format_plugin.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

#include "core/base/mapped_file.h"
#include "core/base/nearest.h"
#include "core/document/evaluator.h"
#include "core/document/finish.h"
#include "core/document/native_library.h"
#include "core/document/plugin_notes.h"
#include "core/document/traced_model.h"
#include "core/document/weights.h"
#include "core/nn/plugin.h"

namespace sonde::document {

namespace {

namespace fs = std::filesystem;

base::Result<PluginEntry> chosenEntry(const std::vector<PluginEntry>& entries, const std::string& name,
                                      const std::string& location) {
    for (const PluginEntry& entry : entries) {
        if (entry.abi != SONDE_PLUGIN_ABI) {
            return base::unreadable("the model was built for " + entry.abi + "; this is " SONDE_PLUGIN_ABI, location,
                                    kRebuildHint);
        }
        if (entry.layout != nn::pluginLayout()) {
            return base::unreadable("the model was built with other headers of the same version", location,
                                    kRebuildHint);
        }
    }
    for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
        const auto same = std::find_if(entries.begin(), entry,
                                       [&](const PluginEntry& earlier) { return earlier.model == entry->model; });
        if (same == entry) continue;
        return base::unreadable("the library has two models named '" + entry->model + "': classes " + same->className +
                                    " and " + entry->className,
                                location, "give each SONDE_MODEL a name of its own");
    }
    if (name.empty()) return entries.front();
    const auto found = std::ranges::find(entries, name, &PluginEntry::model);
    if (found != entries.end()) return *found;
    std::vector<std::string> names;
    std::string known;
    for (const PluginEntry& entry : entries) {
        names.push_back(entry.model);
        known += (known.empty() ? "" : ", ") + entry.model;
    }
    const std::string near = base::didYouMean(name, names);
    return base::unreadable("the library has no model '" + name + "'", location,
                            near.empty() ? "it has: " + known : near);
}

/// Runs code of the library; what it throws becomes an error.
template <typename Run>
auto guarded(const char* what, const std::string& location, Run&& run) -> decltype(run()) {
    try {
        return run();
    } catch (...) {
        return base::unreadable(std::string(what) + " failed: " + trace::TraceError::ofCurrentException().message(),
                                location);
    }
}

base::Result<nn::PluginModel> make(const PluginEntry& entry, const NativeLibrary& library,
                                   const std::string& location) {
    return guarded("the model's constructor", location, [&]() -> base::Result<nn::PluginModel> {
        SONDE_ASSIGN(void* const loaded, library.load());
        const std::string symbol = "sonde_model_" + entry.className;
        const auto function = reinterpret_cast<nn::PluginFunction>(dlsym(loaded, symbol.c_str()));
        if (!function)
            return base::unreadable("the library does not export " + symbol, location,
                                    "use SONDE_MODEL, and do not hide its symbols");
        nn::PluginModel model;
        function(model);
        SONDE_TRY(trace::checkHierarchy(*model.root));
        model.root->setTraining(false);
        return model;
    });
}

/// Code runs only with the user's agreement to what it is.
base::Result<void> checkAgreed(const NativeLibrary& library, const OpenOptions& options, const std::string& location) {
    if (options.allowNative || isNativeAgreed(library.hash())) return {};
    return base::unreadable(
        "this is a shared library: opening it runs its code with your rights, and you have not agreed to that",
        location,
        "--allow-native agrees for this command; the window asks, and remembers it for this content (SHA-256 " +
            library.hash() + ")");
}

bool recognisesPlugin(std::span<const std::byte> head, const fs::path& path) {
    constexpr std::string_view kMagic(
        "\x7f"
        "ELF",
        4);
    if (head.size() < kMagic.size() || std::memcmp(head.data(), kMagic.data(), kMagic.size()) != 0) return false;
    const auto file = base::MappedFile::open(splitModelPath(path.string()).first);
    return file && !readPluginNotes((*file)->bytes()).empty();
}

/// Parameters whose default is None, and that the model does not list among its inputs: they are None, as C++ asks
/// `isNone()` while it is traced, and a symbolic value is not. It is told, and how they take values.
void settleOptional(const nn::PluginModel& model, OpenOptions& options, base::Diagnostics& diagnostics) {
    for (const trace::ForwardParameter& parameter : model.root->signature()) {
        const bool isListed =
            std::ranges::find(model.inputs, parameter.name, &nn::ModelInput::name) != model.inputs.end();
        const bool isFixed = std::ranges::find(options.concrete, parameter.name,
                                               &std::pair<std::string, std::string>::first) != options.concrete.end();
        if (!parameter.fallback || !parameter.fallback->isNone() || isListed || isFixed) continue;
        const std::string what = "the input '" + parameter.name + "' is None, its default";
        const std::string hint =
            "list it in SONDE_MODEL (nn::input(\"" + parameter.name + "\", {…})) to accept values for it";
        if (options.tracer.empty()) {
            options.concrete.emplace_back(parameter.name, "None");
            diagnostics.push_back({base::Severity::Info, what, model.root->className(), hint});
        } else if (options.tracer == "module-path" || options.tracer == "custom") {
            diagnostics.push_back({base::Severity::Warning, what, model.root->className(),
                                   "traced as with --concrete " + parameter.name + "=None; " + hint});
        }
    }
}

/// A model whose forward says nothing of its one parameter, which then has the declared name. Its parts are the model's
/// own, under their own names.
class WithInputName final : public nn::Module {
  public:
    WithInputName(std::shared_ptr<nn::Module> model, std::string name)
        : m_model(std::move(model)), m_name(std::move(name)) {
        for (const Child& child : m_model->children()) addChild(child.name, child.module);
        for (const NamedSlot& slot : m_model->ownTensors()) addSlot(slot.name, slot.slot);
    }
    std::string className() const override { return m_model->className(); }
    std::string extraText() const override { return m_model->extraText(); }
    bool makesTensor() const override { return m_model->makesTensor(); }
    std::vector<trace::ForwardParameter> signature() const override {
        std::vector<trace::ForwardParameter> parameters = m_model->signature();
        parameters.front().name = m_name;
        return parameters;
    }
    nn::Var forward(std::span<const nn::Var> in) override { return m_model->forward(in); }

  private:
    std::shared_ptr<nn::Module> m_model;
    std::string m_name;
};

/// What SONDE_MODEL declares are parameters of forward. Of one declared input and one parameter each is the other; what
/// else has no parameter is told.
void settleNames(nn::PluginModel& model, base::Diagnostics& diagnostics) {
    const std::vector<trace::ForwardParameter> parameters = model.root->signature();
    std::string known;
    for (const trace::ForwardParameter& parameter : parameters) known += (known.empty() ? "" : ", ") + parameter.name;
    for (const nn::ModelInput& input : model.inputs) {
        if (std::ranges::find(parameters, input.name, &trace::ForwardParameter::name) != parameters.end()) continue;
        if (parameters.size() == 1 && model.inputs.size() == 1 && !parameters.front().collects) {
            model.root = std::make_shared<WithInputName>(model.root, input.name);
            model.root->setTraining(false);
            return;
        }
        diagnostics.push_back({base::Severity::Warning,
                               "SONDE_MODEL declares the input '" + input.name + "', which is no parameter of forward",
                               model.root->className(), "signature() names the parameters: " + known});
    }
}

base::Result<std::shared_ptr<Document>> openPlugin(const fs::path& path, const OpenOptions& options,
                                                   const base::WorkContext& work) {
    const auto [given, name] = splitModelPath(path.string());
    work.report("loading " + given.filename().string());
    if (!isNamedAsLibrary(given)) {
        return base::unreadable("this is a shared library (ELF) with the extension of another format", path.string(),
                                "none of its code has run; a library with a model of your own must be named .so");
    }
    SONDE_ASSIGN(const auto library, NativeLibrary::read(given));
    const std::vector<PluginEntry> entries = readPluginNotes(library->bytes());
    if (entries.empty())
        return base::unreadable("the file changed while it was opened", path.string(), "open it again");
    SONDE_TRY(checkAgreed(*library, options, path.string()));
    SONDE_ASSIGN(const PluginEntry entry, chosenEntry(entries, name, path.string()));
    const trace::EvaluatorScope evaluator(kernelEvaluator());
    SONDE_ASSIGN(nn::PluginModel model, make(entry, *library, path.string()));
    if (!options.weights.empty()) SONDE_TRY(loadWeights(*model.root, options.weights, work));
    std::vector<KnownInput> inputs;
    for (const nn::ModelInput& input : model.inputs) inputs.push_back({input.name, input.type});
    OpenOptions settled = options;
    base::Diagnostics notes;
    SONDE_TRY(guarded("the model's signature", path.string(), [&]() -> base::Result<void> {
        settleNames(model, notes);
        return {};
    }));
    SONDE_ASSIGN(const auto document, guarded("the model's forward", path.string(), [&] {
                     settleOptional(model, settled, notes);
                     return traceModel(model.root, settled, inputs, work);
                 }));
    document->diagnostics.insert(document->diagnostics.end(), notes.begin(), notes.end());
    document->title = entry.model;
    document->location = path.string();
    document->format = "C++ model";
    document->properties = {{"class", entry.className},
                            {"built for", entry.abi},
                            {"file size", std::to_string(library->bytes().size()) + " bytes"}};
    document->fingerprint = fingerprintOf(library->bytes()) ^ std::hash<std::string>{}(entry.model);
    if (name.empty() && entries.size() > 1) {
        std::string others;
        for (const PluginEntry& other : entries) {
            if (other.model != entry.model) others += (others.empty() ? "" : ", ") + given.string() + '#' + other.model;
        }
        document->diagnostics.push_back({base::Severity::Warning,
                                         "opened the library's model '" + entry.model + "'; it also has " + others,
                                         given.string(), "PATH#NAME opens one of them"});
    }
    return document;
}

}  // namespace

std::pair<fs::path, std::string> splitModelPath(const std::string& model) {
    const std::size_t mark = model.rfind('#');
    std::error_code failure;
    if (mark == std::string::npos || fs::exists(model, failure)) return {model, {}};
    return {model.substr(0, mark), model.substr(mark + 1)};
}

bool isNamedAsLibrary(const fs::path& path) { return path.filename().string().ends_with(".so"); }

Format pluginFormat() {
    return {"plugin", "C++ model",      "models of one's own, compiled to a shared library with SONDE_MODEL (.so)",
            {"so"},   recognisesPlugin, openPlugin,
            true};
}

}  // namespace sonde::document
