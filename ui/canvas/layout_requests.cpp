#include "ui/canvas/layout_requests.h"

#include <QCoreApplication>
#include <QPointer>

#include "ui/canvas/camera.h"
#include "ui/canvas/card_labels.h"
#include "ui/canvas/layout_service.h"
#include "ui/theme/theme.h"

namespace sonde::canvas {

using theme::Theme;

namespace {

constexpr int kLateMs = 1000;
constexpr double kMinTextHeight = 7.5;   ///< of a title that is read, in pixels with its ascent and descent
constexpr double kEasyTextHeight = 9.5;  ///< of one that is read with ease: letters of 8 pixels, and larger in columns

}  // namespace

struct LayoutRequests::Outcome {
    ComposedScene scene;
    std::optional<base::Error> error;
    std::optional<layout::ViewState> chosen = {};  ///< what a first picture opens, or the columns of one that is fitted
};

LayoutRequests::LayoutRequests(context::CanvasState& state, CanvasMarks& marks, context::InspectorContext& context)
    : m_state(state), m_marks(marks), m_context(context),
      m_measure(std::make_shared<TextMeasure>(Theme::instance().textScale())) {
    m_lateTimer.setSingleShot(true);
    m_lateTimer.setInterval(kLateMs);
    connect(&m_lateTimer, &QTimer::timeout, this, [this] {
        m_isLate = true;
        Q_EMIT becameLate();
    });
}

LayoutRequests::~LayoutRequests() { m_job.abandon(); }

CanvasStyle LayoutRequests::style() const {
    return {Theme::instance().scheme(),
            Theme::instance().textScale(),
            m_context.settings().showsNames(),
            m_context.settings().showsAttributes(),
            m_labels,
            m_context.settings().edgeWidths()};
}

layout::SceneOptions LayoutRequests::options(const CanvasStyle& style) const {
    layout::SceneOptions options;
    const auto watched = m_context.points().watched();
    if (const auto outline = m_context.model().outline())
        options.metrics = itemMetrics(outline->sharedGraph(), style, m_measure, {watched.begin(), watched.end()},
                                      m_marks.watchedModules());
    return options;
}

void LayoutRequests::rebuildLabels() { m_labels = makeCardLabels(m_context.settings().labelRules(), &m_context); }

bool LayoutRequests::labelsTellOfRuns() const { return m_labels && !m_labels->facts.empty(); }

bool LayoutRequests::areLabelsOutdated() const {
    return labelsTellOfRuns() && m_labels->isStale == m_context.runs().staleReason().isEmpty();
}

void LayoutRequests::remeasure() { m_measure = std::make_shared<TextMeasure>(Theme::instance().textScale()); }

double LayoutRequests::legibleScale() const { return kMinTextHeight / m_measure->height(TextRole::Title); }

void LayoutRequests::request(QSizeF room, Columns columns) {
    if (!m_context.model().isOpen() || !m_context.model().outline()) return;
    const std::uint64_t number = ++m_number;
    const CanvasStyle drawn = style();
    const std::shared_ptr<const layout::Outline> outline = m_context.model().outline();
    const std::shared_ptr<const graph::InternalGraph> graph = outline->sharedGraph();
    layout::SceneOptions options = this->options(drawn);
    const QPointer<LayoutRequests> self(this);
    options.onPartial = [self, number, graph, drawn](std::shared_ptr<const layout::SceneLayout> scene) {
        auto index = std::make_shared<const SceneIndex>(std::move(scene));
        QMetaObject::invokeMethod(
            QCoreApplication::instance(),
            [self, number, graph, drawn, index] {
                if (self && self->m_number == number) Q_EMIT self->arrived({index, graph, drawn}, false);
            },
            Qt::QueuedConnection);
    };
    if (!m_lateTimer.isActive() && !m_isLate) m_lateTimer.start();
    const bool isFirst = m_state.isFirst(), isEase = isFirst || columns == Columns::IfEasier;
    const layout::Legibility legibility{{room.width() - 2 * kFitMargin, room.height() - 2 * kFitMargin},
                                        legibleScale(),
                                        isEase ? kEasyTextHeight / m_measure->height(TextRole::Title) : 0};
    layout::ViewState asked = m_state.view();
    if (asked.wrapping == layout::Wrapping::Off) asked.columnHeight = 0;  // of the choice before
    if (asked.wrapping == layout::Wrapping::On && asked.columnHeight <= 0)
        asked.columnHeight = layout::columnHeightFor(asked, legibility);
    const bool chooses = isFirst || columns != Columns::AsTheyAre || asked != m_state.view();
    m_job.start(
        [outline, graph, drawn, view = std::move(asked), isFirst, chooses, legibility,
         options](const base::WorkContext& work) -> Outcome {
            if (chooses) {
                auto first = isFirst ? layOutFirst(*outline, view, legibility, options, work)
                                     : layOutFitted(*outline, view, legibility, options, work);
                if (!first) return {{nullptr, graph, drawn}, std::move(first).error()};
                layout::FirstView found = std::move(first).value();
                return {{std::make_shared<const SceneIndex>(std::move(found.scene)), graph, drawn},
                        {},
                        std::move(found.view)};
            }
            auto scene = layOut(*outline, view, options, work);
            if (!scene) return {{nullptr, graph, drawn}, std::move(scene).error()};
            return {{std::make_shared<const SceneIndex>(std::move(scene).value()), graph, drawn}, {}};
        },
        [this](Outcome outcome) { deliver(std::move(outcome)); });
}

void LayoutRequests::deliver(Outcome outcome) {
    endWaiting();
    if (!outcome.scene.index) {
        if (outcome.error && outcome.error->kind != base::ErrorKind::Cancelled)
            m_context.messages().report(*outcome.error);
        Q_EMIT failed();
        return;
    }
    if (outcome.chosen) m_state.begin(std::move(*outcome.chosen));
    tellNotes(outcome.scene.index->scene());
    Q_EMIT arrived(outcome.scene, true);
}

void LayoutRequests::tellNotes(const layout::SceneLayout& scene) {
    for (const std::string& note : scene.notes)
        if (m_toldNotes.insert(note).second)
            m_context.messages().report(
                context::Message{base::Severity::Info, QString::fromStdString(note), {}, {}, {}});
}

void LayoutRequests::endWaiting() {
    m_lateTimer.stop();
    m_isLate = false;
}

void LayoutRequests::abandon() {
    m_job.abandon();
    ++m_number;
    endWaiting();
}

void LayoutRequests::reset() {
    abandon();
    m_toldNotes.clear();
}

}  // namespace sonde::canvas
