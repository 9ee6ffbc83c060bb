#include "ui/panels/why/why_panel.h"

#include <QAction>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QStackedWidget>
#include <QStyle>
#include <QTableView>
#include <QTextDocument>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "core/session/why/place_text.h"
#include "ui/actions/action_registry.h"
#include "ui/context/count_text.h"
#include "ui/context/inspector_context.h"
#include "ui/context/window_hint.h"
#include "ui/models/module_result.h"
#include "ui/models/node_text.h"
#include "ui/panels/table_view.h"
#include "ui/panels/why/bar_delegate.h"
#include "ui/theme/elided_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/capped_area.h"
#include "ui/widgets/empty_state.h"
#include "ui/widgets/number_text.h"
#include "ui/widgets/progress_strip.h"
#include "ui/widgets/tall_area.h"
#include "ui/widgets/tool_button.h"

namespace sonde::panels {

using context::InspectorContext;
using context::Why;
using models::WhyTermModel;
using widgets::numberText;
using widgets::percentText;

namespace {

/// Of the columns of terms, alone and beside the text.
constexpr int kTermWidths[] = {260, 80, 110, 110, 170}, kNarrowTermWidths[] = {190, 60, 85, 85, 110};

/// Hops that the trail shows around the current one; further ones are counted.
constexpr int kHopsBeside = 2;

QString numberHtml(double value) { return numberText(value, 9).toHtmlEscaped(); }

QLabel* makeText(const char* name, QWidget* parent) {
    auto* label = new QLabel(parent);
    label->setObjectName(QLatin1String(name));
    label->setTextFormat(Qt::RichText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextBrowserInteraction);
    label->setContentsMargins(theme::kSmall, 0, theme::kSmall, theme::kTight);
    label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
    return label;
}

constexpr int kNoLimit = 1 << 20;  ///< pixels

/// What a tool tip has to say besides a text: all of it, where that was shortened.
QString wholeTip(const QString& shown, const QString& whole) {
    return shown.contains(QChar(0x2026)) ? QStringLiteral("<p>%1</p>").arg(whole.toHtmlEscaped()) : QString();
}

QString plainText(const QLabel& label) {
    QTextDocument document;
    document.setHtml(label.text());
    return document.toPlainText();
}

}  // namespace

WhyPanel::WhyPanel(context::OpenModel& opened, context::Navigation& navigation, context::Runs& runs, Why& why,
                   QWidget* parent)
    : Panel(parent), m_opened(opened), m_navigation(navigation), m_runs(runs), m_why(why), m_model(why),
      m_stack(new QStackedWidget(this)), m_empty(new widgets::EmptyState(QStringLiteral("why"), {}, {}, {}, m_stack)),
      m_page(new QWidget(m_stack)), m_grid(new QGridLayout(m_page)), m_top(new QWidget(m_page)),
      m_back(widgets::makeToolButton(QStringLiteral("back"), tr("Previous hop (Ctrl+Alt+Shift+H)"), m_page)),
      m_forward(widgets::makeToolButton(QStringLiteral("forward"), tr("Next hop (Ctrl+Alt+Shift+J)"), m_page)),
      m_end(widgets::makeToolButton(QStringLiteral("producer"),
                                    tr("To the origin: follow what differs, or the largest terms (Ctrl+Alt+Shift+Y)"),
                                    m_page)),
      m_close(widgets::makeToolButton(QStringLiteral("clear"), tr("Forget the hops and their marks"), m_page)),
      m_trail(makeText("whyTrail", m_page)), m_formula(makeText("whyFormula", m_page)),
      m_formulaArea(new widgets::CappedArea(m_formula, m_page)),
      m_view(makeTableView(tr("Terms of the element"), m_page)), m_note(makeText("whyNote", m_page)),
      m_progress(new widgets::ProgressStrip(m_page)) {
    buildTop();
    buildTable();
    m_stack->addWidget(m_empty);
    auto* place = new widgets::TallArea(m_page, m_stack);
    place->setFocusPolicy(Qt::NoFocus);  // what is in it has it
    m_stack->addWidget(place);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addWidget(m_stack);
    connect(&why, &Why::changed, this, &WhyPanel::refresh);
    connect(&why, &Why::fieldChanged, this, &WhyPanel::refreshNote);
    connect(&why, &Why::progressed, this, [this](const base::Progress& progress) {
        if (m_progress->isActive())
            m_progress->setProgress(QString::fromStdString(progress.what), static_cast<qint64>(progress.done),
                                    static_cast<qint64>(progress.total));
    });
    connect(m_progress, &widgets::ProgressStrip::cancelRequested, &why, &Why::cancel);
    connect(m_empty, &widgets::EmptyState::actionTriggered, this, [this] {
        const Why::Hop* const hop = m_why.current();
        if (!hop || !hop->error) return askSelected();
        if (hop->error->kind == base::ErrorKind::Cancelled) m_why.retry();
        else m_runs.runTo(hop->place.node);
    });
    connect(&theme::Theme::instance(), &theme::Theme::changed, this, &WhyPanel::refresh);
    setFocusProxy(m_view);
    refresh();
}

void WhyPanel::buildTop() {
    m_back->setObjectName(QStringLiteral("whyBack"));
    m_forward->setObjectName(QStringLiteral("whyForward"));
    m_end->setObjectName(QStringLiteral("whyEnd"));
    m_close->setObjectName(QStringLiteral("whyClose"));
    connect(m_back, &QToolButton::clicked, &m_why, &Why::goBack);
    connect(m_forward, &QToolButton::clicked, &m_why, &Why::goForward);
    connect(m_end, &QToolButton::clicked, &m_why, &Why::followLargest);
    connect(m_close, &QToolButton::clicked, &m_why, &Why::clear);
    connect(m_trail, &QLabel::linkActivated, this, [this](const QString& hop) { m_why.goTo(hop.toInt()); });
    auto* top = new QHBoxLayout(m_top);
    top->setContentsMargins(theme::kTight, theme::kTight, theme::kTight, 0);
    top->setSpacing(theme::kTight);
    for (QToolButton* button : {m_back, m_forward, m_end}) top->addWidget(button, 0, Qt::AlignTop);
    top->addWidget(m_trail, 1);
    top->addWidget(m_close, 0, Qt::AlignTop);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(0);
    arrange();
}

namespace {

/// Rows of the page; those of the text are in the first column.
enum WhyRow { kTopRow, kFormulaRow, kTermsRow, kNoteRow, kRestRow, kProgressRow };
constexpr int kTextPart = 2, kAllParts = 5;  ///< of the width, beside the terms

}  // namespace

/// The text is above and below the terms; where there is width and no height beside them, so that both are read without
/// scrolling.
void WhyPanel::arrange() {
    constexpr int kWide = 640, kLow = 260;  // pixels
    constexpr int kFormulaLines = 3;        // at most, or a part of the height
    const bool wasBeside = std::exchange(m_isBeside, width() >= kWide && height() < kLow);
    m_formulaArea->setMaxTextHeight(
        std::max(kFormulaLines * fontMetrics().lineSpacing(), height() / (m_isBeside ? 2 : 4)));
    if (m_isBeside != wasBeside) setColumnWidths(m_view, m_isBeside ? kNarrowTermWidths : kTermWidths);
    for (QWidget* part : std::initializer_list<QWidget*>{m_top, m_formulaArea, m_view, m_note, m_progress})
        m_grid->removeWidget(part);
    m_grid->addWidget(m_top, kTopRow, 0);
    m_grid->addWidget(m_formulaArea, kFormulaRow, 0);
    m_grid->addWidget(m_note, kNoteRow, 0);
    m_grid->addWidget(m_progress, kProgressRow, 0, 1, m_isBeside ? 2 : 1);
    if (m_isBeside) m_grid->addWidget(m_view, kTopRow, 1, kProgressRow, 1);
    else m_grid->addWidget(m_view, kTermsRow, 0);
    m_grid->setRowStretch(kTermsRow, m_isBeside ? 0 : 1);
    m_grid->setRowStretch(kRestRow, m_isBeside ? 1 : 0);
    // By parts, not by the width that there is: a panel that asked for that could not become narrower.
    m_grid->setColumnMinimumWidth(0, m_isBeside ? kWide * kTextPart / kAllParts : 0);
    m_grid->setColumnStretch(0, m_isBeside ? kTextPart : 1);
    m_grid->setColumnStretch(1, m_isBeside ? kAllParts - kTextPart : 0);
}

void WhyPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    arrange();
    if (m_stack->currentWidget() == m_empty || !m_why.current()) return;
    refreshTrail();
    refreshFormula();
    refreshNote();
}

/// With room for the scroll bar, whether it is there or not: what is shortened does not change it.
int WhyPanel::textWidth() const {
    const int all =
        m_isBeside ? width() * kTextPart / kAllParts : width() - style()->pixelMetric(QStyle::PM_ScrollBarExtent);
    return all - 2 * theme::kSmall;
}

/// A name has no blanks at which a line could end: its middle is left out. The tool tip has all of it.
QString WhyPanel::fitted(const QString& name, int room) const {
    QFont bold = font();
    bold.setBold(true);
    return theme::elidedText(name, Qt::ElideMiddle, std::max(room, theme::kLarge * 6), QFontMetrics(bold));
}

void WhyPanel::buildTable() {
    m_view->setModel(&m_model);
    m_view->setObjectName(QStringLiteral("whyTerms"));
    m_view->setSortingEnabled(false);
    m_view->setTextElideMode(Qt::ElideMiddle);  // the index is at the end
    m_view->setItemDelegate(new BarDelegate(m_view));
    setColumnWidths(m_view, kTermWidths);
    m_view->horizontalHeader()->setStretchLastSection(true);
    const auto action = [this](const QString& text, const QList<QKeySequence>& keys, auto act) {
        auto* made = new QAction(text, m_view);
        made->setShortcuts(keys);
        made->setShortcutContext(Qt::WidgetShortcut);
        connect(made, &QAction::triggered, this, act);
        m_view->addAction(made);
    };
    action(tr("&Go On from Here"), {Qt::Key_Return, Qt::Key_Enter}, [this] { hopTo(m_view->currentIndex()); });
    action(tr("Go On from the &Weight"), {Qt::SHIFT | Qt::Key_Return}, [this] { hopToWeight(); });
    m_view->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(m_view, &QTableView::doubleClicked, this, &WhyPanel::hopTo);
}

void WhyPanel::hopTo(const QModelIndex& index) {
    const int row = index.row();
    if (const auto place = m_model.placeOf(row)) m_why.hop(*place);
}

void WhyPanel::hopToWeight() {
    const int row = m_view->currentIndex().row();
    if (const auto place = m_model.weightPlaceOf(row)) m_why.hop(*place);
}

void WhyPanel::askSelected() {
    const graph::NodeId node =
        m_opened.isOpen() ? models::resultOf(m_opened, m_navigation.selection()) : graph::NodeId();
    if (node.valid()) m_why.askAbout(node);
}

// --- what is seen ----------------------------------------------------------------------------------------------------

QString WhyPanel::trailText() const { return plainText(*m_trail); }
QString WhyPanel::formulaText() const { return plainText(*m_formula); }
QString WhyPanel::noteText() const { return plainText(*m_note); }

void WhyPanel::refresh() {
    showProgress();
    const Why::Hop* const hop = m_why.current();
    const bool hasPage = hop && (hop->explanation || !hop->error || m_why.trail().size() > 1);
    m_stack->setCurrentIndex(hasPage ? 1 : 0);
    setFocusProxy(hasPage ? static_cast<QWidget*>(m_view) : m_empty);
    setHasContent(hop != nullptr);
    if (!hasPage) return explainEmpty();
    m_back->setEnabled(m_why.canGoBack());
    m_forward->setEnabled(m_why.canGoForward());
    m_end->setEnabled(hop->explanation && hop->end.isEmpty());
    // Return goes on from the largest term at once.
    if (!m_view->currentIndex().isValid() && m_model.rowCount() > 0) m_view->setCurrentIndex(m_model.index(0, 0));
    refreshTrail();
    refreshFormula();
    refreshNote();
}

void WhyPanel::showProgress() {
    const bool isBusy = m_why.isLooking() || m_why.isTracing();
    if (!isBusy) return m_progress->finish();
    if (!m_progress->isActive())
        m_progress->start(m_why.isTracing() ? tr("Following contributions") : tr("Looking at the terms"),
                          widgets::ProgressStrip::kDelayMs, tr("Cancel"));
}

void WhyPanel::explainEmpty() {
    const QString icon = QStringLiteral("why");
    const Why::Hop* const hop = m_why.current();
    if (!hop)
        return m_empty->setContent(icon, tr("Nothing asked"),
                                   tr("Click an element in the Tensor panel and press Ctrl+Shift+Y to see what it is "
                                      "made of."));
    const base::Error& error = *hop->error;
    const bool isCancelled = error.kind == base::ErrorKind::Cancelled;
    m_empty->setContent(icon, isCancelled ? tr("Cancelled") : QString::fromStdString(error.what),
                        isCancelled ? m_why.text(hop->place) : context::windowHint(error.hint),
                        isCancelled ? tr("Try Again") : tr("Run to Here"));
}

/// The first hop, those around the current one and the last; the others are counted.
void WhyPanel::refreshTrail() {
    const auto& trail = m_why.trail();
    const int count = static_cast<int>(trail.size()), at = m_why.position();
    // The buttons are beside it.
    const int room = textWidth() - 4 * m_back->sizeHint().width() - 6 * theme::kTight;
    QString html;
    QStringList whole;
    int skipped = 0;
    for (int i = 0; i < count; ++i) {
        if (i > 0 && i + 1 < count && std::abs(i - at) > kHopsBeside) {
            ++skipped;
            continue;
        }
        if (!html.isEmpty()) html += QStringLiteral(" \u203a ");
        if (skipped > 0) html += QStringLiteral("\u2026 %1 \u2026 \u203a ").arg(std::exchange(skipped, 0));
        whole << models::oneLine(m_why.text(trail[static_cast<std::size_t>(i)].place));
        const QString text = fitted(whole.back(), room).toHtmlEscaped();
        html += i == at ? QStringLiteral("<b>%1</b>").arg(text)
                        : QStringLiteral("<a href='%1' style='color:%3'>%2</a>")
                              .arg(i)
                              .arg(text, theme::color(theme::ColorRole::Link).name());
    }
    m_trail->setText(html);
    m_trail->setToolTip(wholeTip(html, whole.join(QStringLiteral(" \u203a "))));
    m_trail->setAccessibleName(tr("Hops: %1").arg(trailText()));
}

void WhyPanel::refreshFormula() {
    const Why::Hop& hop = *m_why.current();
    if (!hop.explanation) {
        m_formula->setText(QString());
        return m_formulaArea->hide();
    }
    const session::why::Explanation& found = *hop.explanation;
    const QString muted = theme::color(theme::ColorRole::MutedText).name();
    const QString name = models::oneLine(m_why.text(found.place));
    QString html =
        QStringLiteral("<b>%1</b> = <b>%2</b>").arg(fitted(name, textWidth()).toHtmlEscaped(), numberHtml(found.value));
    if (!found.operatorName.empty())
        html += QStringLiteral(" <span style='color:%1'>\u00b7 %2</span>")
                    .arg(muted, models::shown(found.operatorName).toHtmlEscaped());
    if (!found.formula.empty()) {
        html += QStringLiteral("<br><code>= %1").arg(models::paragraph(found.formula).toHtmlEscaped());
        const QString numbers = models::paragraph(found.withNumbers);
        if (!numbers.isEmpty() && numbers != models::paragraph(found.formula))
            html += QStringLiteral(" = %1").arg(numbers.toHtmlEscaped());
        html += QStringLiteral("</code>");
    }
    m_formula->setText(html);
    m_formulaArea->refit();
    m_formula->setToolTip(wholeTip(html, name));
    m_formula->setAccessibleName(formulaText());
    m_formulaArea->setAccessibleName(formulaText());
    m_formulaArea->show();
}

/// "y[0, 0] comes from 25 elements of x (99.7 %), weights and constants (0.3 %).".
QString WhyPanel::shareText(int room) const {
    const session::why::Contributions* const found = m_why.contributions();
    if (!found) {
        if (!m_why.traceError()) return {};
        return m_why.traceError()->kind == base::ErrorKind::Cancelled
                   ? tr("What reaches it was not followed: cancelled.")
                   : tr("What reaches it could not be followed: %1")
                         .arg(QString::fromStdString(m_why.traceError()->what));
    }
    QStringList parts;
    for (const session::why::Share& share : found->inputs) {
        const session::why::Box* const box = m_why.fieldOf(share.node);
        const QString name = fitted(models::shown(m_opened.graph().node(share.node).name), room);
        parts << (box ? tr("%1 of %2 (%3)")
                            .arg(context::countedText(box->count(), tr("1 element"), tr("%1 elements")), name,
                                 percentText(share.sum))
                      : tr("%1 (%2)").arg(name, percentText(share.sum)));
    }
    const auto add = [&](double part, const QString& what) {
        if (part > 1e-6) parts << QStringLiteral("%1 (%2)").arg(what, percentText(part));
    };
    add(found->constants, tr("weights and constants"));
    add(found->unexplained, tr("what has no rule or no terms"));
    add(found->cut, tr("what was not followed"));
    if (parts.isEmpty()) return {};
    const QString rest =
        found->hasNan ? tr(" Terms are NaN: the shares say where it is from, not how much.") : QString();
    return tr("%1 comes from %2.")
               .arg(fitted(models::oneLine(m_why.text(m_why.trail().front().place)), room),
                    parts.join(QStringLiteral(", "))) +
           rest;
}

void WhyPanel::refreshNote() {
    const Why::Hop* const hop = m_why.current();
    if (!hop || m_stack->currentWidget() == m_empty) return;
    QStringList lines;
    const auto coloured = [](theme::ColorRole role, const QString& text) {
        return QStringLiteral("<span style='color:%1'>%2</span>").arg(theme::color(role).name(), text.toHtmlEscaped());
    };
    if (hop->error) {
        const bool isCancelled = hop->error->kind == base::ErrorKind::Cancelled;
        lines << coloured(theme::ColorRole::Error,
                          isCancelled ? tr("Cancelled") : QString::fromStdString(hop->error->what));
    }
    if (hop->explanation) {
        const session::why::Explanation& found = *hop->explanation;
        if (!found.note.empty())
            lines << (models::paragraph(found.note) +
                      (found.terms.empty() && !found.inputs.empty() ? tr(": its inputs are listed") : QString()))
                         .toHtmlEscaped();
        if (found.isEdited && found.recombined) {
            lines << tr("Without the edit it is %1.").arg(numberHtml(*found.recombined));
        } else if (found.recombined && found.termCount > 0) {
            // A value of few bits is rounded more than what it is made of.
            const QString dtype = models::dtypeText(m_opened.graph().node(found.place.node), nullptr);
            const double tolerance =
                dtype.contains(QLatin1String("float16")) || dtype.startsWith(u"float8") ? 1e-2 : 1e-4;
            double scale = std::fabs(found.value);
            if (!found.terms.empty()) scale = std::max(scale, std::fabs(found.terms.front().contribution()));
            const double difference = std::fabs(*found.recombined - found.value);
            const bool isSame = (std::isnan(found.value) && std::isnan(*found.recombined)) ||
                                *found.recombined == found.value || difference <= tolerance * scale;
            const QString count =
                found.termCount == 1
                    ? tr("1 term recombines")
                    : tr("%1 terms recombine").arg(widgets::countText(static_cast<qint64>(found.termCount)));
            lines << (isSame ? QStringLiteral("\u2713 ") + tr("%1 to %2").arg(count, numberHtml(*found.recombined))
                             : coloured(theme::ColorRole::Warning,
                                        QStringLiteral("\u26a0 ") + tr("%1 to %2, which is %3 off")
                                                                        .arg(count, numberText(*found.recombined, 9),
                                                                             numberText(difference, 3))));
        }
    }
    // Of a run with edits the baseline is what the chain followed, and is told above where an edit made the element.
    if (hop->reference && !(hop->explanation && hop->explanation->isEdited))
        lines << (hop->isBaseline ? tr("In the baseline it is %1.") : tr("In the reference it is %1."))
                     .arg(numberHtml(*hop->reference));
    if (hop->isOrigin) lines << coloured(theme::ColorRole::Warning, QStringLiteral("\u26a0 ") + hop->end);
    const QString shares = shareText(textWidth());
    if (!shares.isEmpty()) lines << shares.toHtmlEscaped();
    m_note->setText(lines.join(QStringLiteral("<br>")));
    m_note->setToolTip(wholeTip(shares, shareText(kNoLimit)));
    m_note->setAccessibleName(noteText());
    m_note->setVisible(!lines.isEmpty());
}

// --- the window ------------------------------------------------------------------------------------------------------

void WhyPanel::join(const PanelHost& host) {
    host.actions.bind(QStringLiteral("values.why"), this, [this, show = host.show] {
        askSelected();
        show();
    });
    host.actions.bind(QStringLiteral("values.why_origin"), this, [this] { m_why.followLargest(); });
    host.actions.bind(QStringLiteral("values.why_back"), this, [this] { m_why.goBack(); });
    host.actions.bind(QStringLiteral("values.why_forward"), this, [this] { m_why.goForward(); });
    for (const char* id : {"values.why_back", "values.why_forward", "values.why_origin"})
        m_view->addAction(host.actions.action(QLatin1String(id)));
    connect(&m_why, &Why::asked, this, host.raise);
}

namespace {

/// Command `why`: NODE[INDEX], or nothing for what is selected.
base::Result<void> askWhy(QWidget& panel, const PanelHost& host, const QString& place) {
    if (place.isEmpty()) {
        host.actions.press(QStringLiteral("values.why"));
        return {};
    }
    return static_cast<WhyPanel&>(panel).askAt(place);
}

base::Result<void> hopInto(QWidget& panel, const PanelHost&, const QString& number) {
    auto& why = static_cast<WhyPanel&>(panel);
    const auto place = why.model().placeOf(number.toInt() - 1);
    if (!place) return base::usageError("there is no such term", number.toStdString());
    why.why().hop(*place);
    return {};
}

base::Result<void> goInTrail(QWidget& panel, const PanelHost&, const QString& word) {
    Why& why = static_cast<WhyPanel&>(panel).why();
    if (!why.isAsked()) return base::usageError("nothing is asked", {}, "why NODE[INDEX] asks");
    if (word == u"back") why.goBack();
    else if (word == u"forward") why.goForward();
    else if (word == u"origin") why.followLargest();
    else if (word == u"close") why.clear();
    else return base::usageError("no such word", word.toStdString(), "back, forward, origin or close");
    return {};
}

}  // namespace

base::Result<void> WhyPanel::askAt(const QString& text) {
    if (!m_opened.isOpen()) return base::usageError("no model is open");
    const std::string bytes = text.toStdString();
    session::why::PlaceProblem problem;
    const auto read = session::why::readPlace(bytes, problem);
    if (!read) return problem.error;
    if (!read->rest.empty()) return base::usageError("unexpected '" + std::string(read->rest) + "'");
    SONDE_ASSIGN(const graph::NodeId node, m_opened.document()->findNode(read->node));
    m_navigation.navigateTo(node);
    m_why.ask({node, {}, read->index});
    return {};
}

PanelInfo whyPanel() {
    PanelInfo info{QStringLiteral("why"),
                   QObject::tr("Why"),
                   QStringLiteral("why"),
                   PanelArea::Bottom,
                   QStringLiteral("Alt+Shift+4"),
                   [](InspectorContext& context) -> Panel* {
                       return new WhyPanel(context.model(), context.navigation(), context.runs(), context.why());
                   }};
    info.coming = PanelComing::ToFront;
    info.size = {0, 240};
    info.join = [](QWidget& panel, const PanelHost& host) { static_cast<WhyPanel&>(panel).join(host); };
    info.commands = {
        {"why", "[NODE[INDEX]]", "ask what an element is made of; without one, what is selected", askWhy},
        {"hop", "N", "go on from the N-th term of the element", hopInto},
        {"trail", "back|forward|origin|close", "go along the hops; origin: follow the largest terms", goInTrail}};
    return info;
}

}  // namespace sonde::panels
