#include <QGuiApplication>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fmt/format.h>
#include <map>

#include "app/interrupt.h"
#include "app/verb.h"
#include "app/verbs/options.h"
#include "app/verbs/validators.h"
#include "core/base/count_text.h"
#include "core/document/session_model.h"
#include "ui/canvas/card_labels.h"
#include "ui/canvas/export.h"
#include "ui/canvas/layout_service.h"
#include "ui/context/remembered.h"

namespace sonde::app {

namespace {

using layout::Outline;
using layout::ViewState;

struct RenderOptions {
    ModelOptions model;
    std::string output;
    std::optional<std::size_t> depth;
    std::vector<std::string> expand;
    std::string theme = "light";
    std::string direction;  ///< empty: that of the session, else down
    double scale = 2;
    bool weights = false;
    bool foldShapes = false;
    bool attributes = false;
    std::string pages;
    bool landscape = false;
    double pageScale = canvas::Paging().scale;
    std::vector<std::string> labels;
    bool unfold = false;
    std::string wrap;
};

/// From this many equal blocks in a row on they are drawn as one, as in the window.
constexpr std::size_t kFoldFrom = 3;

const std::map<std::string, layout::Wrapping> kWrappings{
    {"automatic", layout::Wrapping::Automatic}, {"on", layout::Wrapping::On}, {"off", layout::Wrapping::Off}};
const std::map<std::string, QPageSize::PageSizeId> kPageSizes{{"A3", QPageSize::A3},
                                                              {"A4", QPageSize::A4},
                                                              {"A5", QPageSize::A5},
                                                              {"Letter", QPageSize::Letter},
                                                              {"Legal", QPageSize::Legal}};

/// "{op}|{shape}", or "Conv Gemm=…" for some operators alone.
base::Result<context::LabelRules> labelRules(const std::vector<std::string>& texts) {
    context::LabelRules rules;
    for (const std::string& text : texts) {
        const QString whole = QString::fromStdString(text);
        const qsizetype equals = whole.indexOf(u'='), brace = whole.indexOf(u'{');
        const bool some = equals > 0 && (brace < 0 || equals < brace);
        rules.push_back({some ? whole.left(equals).trimmed() : QStringLiteral("*"),
                         (some ? whole.mid(equals + 1) : whole).split(u'|')});
    }
    const QStringList unknown = context::unknownFields(rules);
    if (unknown.isEmpty()) return rules;
    QStringList known;
    for (const context::LabelField& field : context::labelFields())
        if (!field.ofRun) known << field.name;
    return base::usageError("unknown field '" + unknown.front().toStdString() + "'", "--label",
                            "fields are " + known.join(QStringLiteral(", ")).toStdString());
}

const std::vector<std::string> kEndings{".svg", ".png", ".pdf", ".dot", ".json"};

/// What a session shows, but for what the options say; of another model what they say.
base::Result<ViewState> viewFor(const RenderOptions& options, const document::Document& document,
                                const Outline& outline) {
    std::optional<ViewState> stored;
    if (document.session) stored = context::viewOfTexts(outline.graph(), document.session->file.view, 0);
    ViewState view = stored.value_or(ViewState());
    if (options.weights || !stored) view.hideConstants = !options.weights;
    if (options.foldShapes || !stored) view.foldShapes = options.foldShapes;
    if (options.unfold || !stored) view.foldFrom = options.unfold ? 0 : kFoldFrom;
    if (!options.wrap.empty()) {
        view.wrapping = kWrappings.at(options.wrap);
        view.columnHeight = 0;
    }
    if (!options.direction.empty())
        view.direction = options.direction == "right" ? layout::Direction::LeftRight : layout::Direction::TopDown;
    if (options.depth || !options.expand.empty() || !stored)
        layout::openToDepth(outline, view, options.depth.value_or(options.expand.empty() ? 1 : 0));
    for (const std::string& qualname : options.expand) {
        bool found = false;
        for (const graph::Scope& scope : outline.graph().scopes()) {
            if (scope.qualname != qualname || !outline.groupOf(scope.id)) continue;
            layout::reveal(outline, view, scope.id);
            layout::setOpen(outline, view, outline.groupOf(scope.id), true);
            found = true;
        }
        if (!found)
            return base::usageError("no module '" + qualname + "' was called in this model", "--expand",
                                    "sonde trace MODEL lists the modules of all nodes");
    }
    return view;
}

/// What Qt remarks about the platform is for its developers: the error stream is for Sonde's own lines.
void onQtMessage(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type == QtFatalMsg || type == QtCriticalMsg) std::fprintf(stderr, "%s\n", qPrintable(message));
}

base::Result<int> render(RenderOptions& options) {
    const std::string ending = std::filesystem::path(options.output).extension().string();
    if (std::find(kEndings.begin(), kEndings.end(), ending) == kEndings.end())
        return base::usageError("unknown output format '" + ending + "'", options.output,
                                "the file's name must end in .svg, .png, .pdf, .dot or .json");
    if (!options.pages.empty() && ending != ".pdf")
        return base::usageError("only a PDF file has pages", options.output,
                                "the file's name must end in .pdf with --pages");
    SONDE_ASSIGN(const context::LabelRules rules, labelRules(options.labels));
    SONDE_ASSIGN(const auto document, options.model.load({}, {{{"--output", options.output}}}));
    // Fonts need an application object; no display is needed, nor asked whether there is one.
    qputenv("QT_QPA_PLATFORM", "offscreen");
    qInstallMessageHandler(onQtMessage);
    int argc = 1;
    char name[] = "sonde";
    char* argv[] = {name, nullptr};
    const QGuiApplication application(argc, argv);

    const Outline outline(document->graph);
    SONDE_ASSIGN(const ViewState view, viewFor(options, *document, outline));
    canvas::CanvasStyle style;
    style.scheme = options.theme == "dark" ? theme::Scheme::Dark : theme::Scheme::Light;
    style.showAttributes = options.attributes;
    style.labels = canvas::makeCardLabels(rules, nullptr);
    const auto measure = std::make_shared<const canvas::TextMeasure>(style.textScale);
    layout::SceneOptions sceneOptions;
    sceneOptions.metrics = canvas::itemMetrics(document->graph, style, measure, {}, {});
    SONDE_ASSIGN(layout::FirstView picture, canvas::layOutPicture(outline, view, sceneOptions, commandLineWork()));
    const std::shared_ptr<const layout::SceneLayout> scene = std::move(picture.scene);
    for (const std::string& note : scene->notes) std::fprintf(stderr, "%s\n", note.c_str());
    const canvas::ScenePainter painter(std::make_shared<const canvas::SceneIndex>(scene), document->graph, measure,
                                       style);
    if (!options.pages.empty()) {
        canvas::Paging paging;
        paging.onePage = false;
        paging.landscape = options.landscape;
        paging.scale = options.pageScale;
        paging.size = kPageSizes.at(options.pages);
        SONDE_TRY(canvas::exportPages(painter, {}, canvas::pictureOf(painter), QString::fromStdString(options.output),
                                      paging));
        return 0;
    }
    const double largest = canvas::largestScale(canvas::pictureOf(painter));
    if (ending == ".png" && options.scale > largest)
        fmt::print(stderr,
                   "sonde: note: drawn at scale {:.3g} instead of {:g}: an image has at most {} pixels a side\n",
                   largest, options.scale, base::countText(canvas::kMaxImageSide));
    SONDE_TRY(canvas::exportScene(painter, {}, QString::fromStdString(options.output), options.scale));
    return 0;
}

}  // namespace

Verb renderVerb() {
    return {"render", "Draw a model's graph into a file", "sonde render zoo:resnet18 -o resnet18.svg --expand layer1.0",
            [](CLI::App& command) {
                auto options = std::make_shared<RenderOptions>();
                options->model.addTo(command);
                options->model.needsValues = false;
                command
                    .add_option("-o,--output", options->output,
                                "File to write; the extension selects the format: svg, png, pdf, dot, json")
                    ->required();
                command
                    .add_option("--depth", options->depth,
                                "Expand modules to this depth; 0 collapses all (default 1, with --expand 0; of a "
                                "session (.sonde) what it shows)")
                    ->check(nonNegativeInteger());
                command
                    .add_option("--expand", options->expand, "Expand this module and those around it (again for more)")
                    ->type_name("QUALNAME")
                    ->allow_extra_args(false);
                command.add_option("--theme", options->theme, "light or dark")
                    ->check(CLI::IsMember({"light", "dark"}))
                    ->capture_default_str();
                command
                    .add_option("--direction", options->direction,
                                "Where the graph flows: down or right (default down, of a session what it shows)")
                    ->check(CLI::IsMember({"down", "right"}));
                command
                    .add_option("--scale", options->scale,
                                "Pixels per unit of a PNG, which has at most 16,384 pixels a side")
                    ->check(notNan())
                    ->check(CLI::Range(0.05, 8.0))
                    ->capture_default_str();
                command.add_flag("--constants", options->weights, "Draw weights and constants as nodes");
                command.add_flag("--fold-shapes", options->foldShapes, "Hide operations that only compute shapes");
                command.add_flag("--unfold", options->unfold,
                                 "Draw repeated blocks one by one, not as one box with their count");
                command
                    .add_option("--wrap", options->wrap,
                                "Draw a long flow in columns: automatic (what is too long for a page and more than 3 "
                                "times as long as wide), on or off; else as the session shows it, or automatic")
                    ->check(CLI::IsMember({"automatic", "on", "off"}));
                command
                    .add_option("--pages", options->pages,
                                "PDF on as many pages as needed, of size A3, A4, A5, Letter or Legal")
                    ->check(CLI::IsMember({"A3", "A4", "A5", "Letter", "Legal"}));
                command.add_flag("--landscape", options->landscape, "Pages in landscape orientation");
                command.add_option("--page-scale", options->pageScale, "Points per unit on pages")
                    ->check(notNan())
                    ->check(CLI::Range(canvas::Paging::kMinScale, canvas::Paging::kMaxScale))
                    ->capture_default_str();
                command
                    .add_option("--label", options->labels,
                                "Text on nodes: lines separated by |, fields in braces: '{op}|{qualname}|{shape}'; "
                                "'Conv=…' for one operator (again for more)")
                    ->type_name("LINES")
                    ->allow_extra_args(false);
                command.add_flag("--attributes", options->attributes, "Write attributes on the nodes");
                return std::function<base::Result<int>()>([options] { return render(*options); });
            }};
}

}  // namespace sonde::app
