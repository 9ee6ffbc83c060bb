// Of the tensor panel: the second pane.

#include <QComboBox>
#include <QDockWidget>
#include <QMainWindow>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>
#include <utility>

#include "ui/models/short_text.h"
#include "ui/panels/tensor_viewer/paired_value.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/tensor_viewer/value_pair.h"
#include "ui/widgets/labels.h"
#include "ui/widgets/tall_area.h"

namespace sonde::panels {

using Kind = PairedValue::Choice::Kind;

void TensorViewerPanel::connectPair() {
    connect(m_paired, &PairedValue::changed, this, &TensorViewerPanel::showPair);
    connect(m_twoPanes, &QToolButton::clicked, this, &TensorViewerPanel::setTwoPanes);
    connect(m_beside, &QComboBox::activated, this, [this](int index) {
        const auto choices = m_paired->choices(m_node);
        if (static_cast<std::size_t>(index) < choices.size())
            m_paired->choose(choices[static_cast<std::size_t>(index)]);
    });
}

namespace {

/// Names without the modules that they begin with in common: in a narrow pane nothing else of them would be seen.
void cutCommon(QString& first, QString& second) {
    constexpr qsizetype kShort = 4;
    const auto differing = std::ranges::mismatch(first, second);
    const qsizetype same = differing.in1 - first.begin();
    if (same < kShort || differing.in1 == first.end() || differing.in2 == second.end()) return;
    const qsizetype cut = std::max(first.lastIndexOf(u'/', same - 1), first.lastIndexOf(u'.', same - 1)) + 1;
    if (cut < kShort) return;
    first = QStringLiteral("\u2026") + first.mid(cut);
    second = QStringLiteral("\u2026") + second.mid(cut);
}

}  // namespace

void TensorViewerPanel::showPair() {
    const bool isPair = m_paired->isChosen() && m_node.valid() && m_opened.isOpen() && m_viewer->hasValue();
    m_twoPanes->setChecked(m_paired->isChosen());
    m_beside->setVisible(isPair);
    arrangePair();
    if (!isPair) {
        m_broughtIntoView.clear();
        m_place->keepInView(nullptr);
        return m_pair->clearSecond();
    }
    const std::vector<PairedValue::Choice> choices = m_paired->choices(m_node);
    {
        const QSignalBlocker quiet(m_beside);
        m_beside->clear();
        for (const PairedValue::Choice& choice : choices) m_beside->addItem(m_paired->titleOf(choice));
        const auto chosen = std::ranges::find(choices, m_paired->choice());
        m_beside->setCurrentIndex(static_cast<int>(chosen - choices.begin()));
        m_beside->setToolTip(tr("What is in the second pane: %1").arg(m_beside->currentText()));
    }
    const QString name = models::shown(m_opened.graph().node(m_node).name);
    const auto withEdits = [this](const QString& title, graph::NodeId node) {
        return m_edits.isRecomputed(node) ? tr("%1, with the edits").arg(title) : title;
    };
    const bool isOther = m_paired->choice().kind == Kind::Node;
    QString own = name,
            other = isOther ? models::shown(m_opened.graph().node(m_paired->choice().node).name) : QString();
    cutCommon(own, other);
    const context::ShownValues shown = m_debugger.shown();
    const bool isBaseline = m_paired->choice().kind == Kind::Baseline;
    QString first = isBaseline ? tr("With the edits") : withEdits(own, m_node);
    if (m_edits.isCounterfactual() && shown == context::ShownValues::Baseline) first = tr("Baseline");
    if (m_edits.isCounterfactual() && shown == context::ShownValues::Difference)
        first = tr("Difference");  // the box says of what
    if (m_viewsGradient) first = tr("Gradient by %1").arg(own);
    QString second = m_paired->titleOf(m_paired->choice());
    if (isOther) second = other;
    if (isOther && shown == context::ShownValues::Counterfactual) second = withEdits(second, m_paired->choice().node);
    if (const QString remark = m_paired->remark(); !remark.isEmpty()) second += tr("  \u00b7  %1").arg(remark);
    if (m_title->isHidden() && m_runs.isStale(m_node))
        first.prepend(tr("Stale, %1  \u00b7  ").arg(m_runs.staleReason()));
    m_pair->setSecond(first, second, name, m_paired->value(), m_paired->missing(), whyNoDifference());
    grow();
    // Where there is little room the values are seen rather than the controls above them.
    if (const QString what = name + u'\n' + m_beside->currentText(); std::exchange(m_broughtIntoView, what) != what)
        m_place->keepInView(m_pair->panes());
}

/// Of what is in the panes: two values have a difference, a difference or a gradient has none from a value.
QString TensorViewerPanel::whyNoDifference() const {
    if (m_viewsGradient) return tr("The first pane holds a gradient");
    if (!m_edits.isCounterfactual()) return {};
    if (m_debugger.shown() == context::ShownValues::Difference) return tr("The first pane holds a difference");
    const bool areBoth =
        m_debugger.shown() == context::ShownValues::Baseline && m_paired->choice().kind == Kind::Baseline;
    return areBoth ? tr("Both panes hold the baseline") : QString();
}

/// The boxes need the room of the title in a narrow panel: what it says is above the panes and in the node's details,
/// as is how far the value is from others.
/// In a low one the controls take less, so that there is room for the values.
void TensorViewerPanel::arrangePair() {
    constexpr int kNarrow = 400;  // pixels
    const int low = width() < kNarrow ? 460 : 380;
    const bool isPair = !m_beside->isHidden();
    m_title->setHidden(isPair && width() < kNarrow);
    m_change->setHidden(isPair || m_change->text().isEmpty());
    m_pair->setCompact(height() < low);
}

/// Two values need more room than one, which those above and below may have too much of.
void TensorViewerPanel::grow() {
    auto* const dock = qobject_cast<QDockWidget*>(parentWidget());
    auto* const main = dock ? qobject_cast<QMainWindow*>(dock->parentWidget()) : nullptr;
    if (!main || dock->isFloating() || std::exchange(m_hasGrown, true)) return;
    const Qt::DockWidgetArea area = main->dockWidgetArea(dock);
    const bool isColumn = area == Qt::LeftDockWidgetArea || area == Qt::RightDockWidgetArea;
    const int height = std::min(440, main->height() * 3 / 5);  // pixels; the others need some, too
    if (isColumn && dock->height() < height) main->resizeDocks({dock}, {height}, Qt::Vertical);
}

void TensorViewerPanel::resizeEvent(QResizeEvent* event) {
    Panel::resizeEvent(event);
    arrangePair();
}

/// The most useful one beside it. If there is none, the node stays for the next one that is selected.
void TensorViewerPanel::setTwoPanes(bool on) {
    if (!on) m_paired->choose({});
    else if (!m_paired->isChosen()) m_paired->choose(m_paired->usual(m_node));
    if (on && !m_paired->isChosen()) pinNode();
    m_twoPanes->setChecked(m_paired->isChosen());
}

void TensorViewerPanel::pinNode() {
    if (!m_node.valid() || !m_opened.isOpen()) return;
    m_paired->pin(m_node);
    m_messages.report(
        context::Message{base::Severity::Info,
                         tr("%1 stays for the second pane").arg(models::shown(m_opened.graph().node(m_node).name)),
                         {},
                         tr("Select another node: both are shown beside each other"),
                         m_node});
}

/// Where it differs, the value of the run beside the other one.
void TensorViewerPanel::showBisected(graph::NodeId node) {
    m_navigation.navigateTo(node);
    m_paired->choose({Kind::Bisection, {}});
    if (!m_runs.recording() && !m_runs.isRunning()) m_runs.run();
}

base::Result<void> TensorViewerPanel::showBeside(const QString& what) {
    if (what == u"off") m_paired->choose({});
    else if (what == u"baseline") m_paired->choose({Kind::Baseline, {}});
    else if (what == u"reference") m_paired->choose({Kind::Reference, {}});
    else if (what == u"second") m_paired->choose({Kind::SecondModel, {}});
    else if (what == u"bisection") m_paired->choose({Kind::Bisection, {}});
    else {
        SONDE_ASSIGN(const graph::NodeId node, m_opened.document()->findNode(what.toStdString()));
        m_paired->pin(node);
    }
    if (what != u"off" && !m_paired->isChosen()) {
        m_paired->choose({});
        return base::usageError(
            "there is no such value beside this one", what.toStdString(),
            "off, baseline of a run with edits, reference after compare FILE.npz, second after diff MODEL, "
            "bisection of the node that differs, or a node");
    }
    return {};
}

base::Result<void> TensorViewerPanel::showPanes(const QString& how) {
    static const QStringList kModes{QStringLiteral("side"), QStringLiteral("blink"), QStringLiteral("difference")};
    const qsizetype mode = kModes.indexOf(how);
    if (mode < 0) return base::usageError("no such way", how.toStdString(), "side, blink or difference");
    const auto wanted = static_cast<ValuePair::Mode>(mode);
    if (wanted == ValuePair::Mode::Difference && m_pair->hasSecond() && !m_pair->incomparable().isEmpty())
        return base::usageError("the panes have no difference: " + m_pair->incomparable().toStdString());
    m_pair->setMode(wanted);
    return {};
}

}  // namespace sonde::panels
