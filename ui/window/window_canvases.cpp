// The part of MainWindow that has one or two canvases, and says what colours them.

#include <QAction>
#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QSplitter>

#include "ui/canvas/graph_canvas.h"
#include "ui/context/comparison.h"
#include "ui/context/stored.h"
#include "ui/context/value_measures.h"
#include "ui/models/node_columns.h"
#include "ui/window/focus_bar.h"
#include "ui/window/main_window.h"

namespace sonde::window {

using canvas::GraphCanvas;

GraphCanvas* MainWindow::canvas() const {
    return m_second && m_context.canvases().activeNumber() == 1 ? m_second : m_canvas;
}

void MainWindow::connectCanvas(GraphCanvas* made) {
    m_actions.addTo(made, actions::Scope::Canvas);
    connect(made, &GraphCanvas::layoutFinished, this, &MainWindow::refreshStatus);
    connect(made, &GraphCanvas::sceneChanged, this, [this, made] {
        if (const auto scene = made->view().scene(); scene && made == canvas())
            m_focusBar->setLeftOut(scene->filteredExprs);
    });
    connect(
        &made->overlays(), &canvas::CanvasOverlays::closeRequested, this, [this, made] { closeCanvas(made->number()); },
        Qt::QueuedConnection);
}

void MainWindow::split(Qt::Orientation direction) {
    m_splitter->setOrientation(direction);
    if (!m_second) {
        m_second = new GraphCanvas(m_context, nullptr, 1);
        m_second->setObjectName(QStringLiteral("secondCanvas"));
        m_splitter->addWidget(m_second);
        connectCanvas(m_second);
        // With a model both begin with the same picture; before one, each comes back as it was left.
        if (m_context.model().isOpen()) {
            m_context.canvases().copyToOther();
            m_second->takeOver(*m_canvas);
        } else {
            m_second->interaction().setWheelZooms(m_canvas->interaction().wheelZooms());
            m_second->overlays().setOverviewVisible(m_canvas->overlays().overviewVisible());
        }
        m_splitter->setSizes({1000, 1000});
        m_canvas->setBeside(true);
        m_second->setBeside(true);
        if (m_context.model().isOpen()) m_second->setFocus();
    }
    refreshActions();
}

void MainWindow::closeCanvas(int number) {
    if (!m_second) return;
    if (number == 0) {
        // The second's view and place become the first's.
        m_context.canvases().setActive(1);
        m_context.canvases().copyToOther();
    }
    m_context.canvases().setActive(0);
    if (number == 0) m_canvas->takeOver(*m_second);
    GraphCanvas* closed = std::exchange(m_second, nullptr);
    m_focusBar->attachTo(m_canvas);
    closed->hide();
    closed->deleteLater();
    m_canvas->setBeside(false);
    m_canvas->setFocus();
    refreshActions();
}

/// Bars and actions are about the canvas in use.
void MainWindow::useCanvas() {
    m_focusBar->attachTo(canvas());
    if (const auto scene = canvas()->view().scene()) m_focusBar->setLeftOut(scene->filteredExprs);
    refreshActions();
}

void MainWindow::bindCanvasActions() {
    const auto toggle = [this](Qt::Orientation direction) {
        // The same again closes; the other way turns the two.
        if (isSplit() && m_splitter->orientation() == direction) closeCanvas(1);
        else split(direction);
        refreshActions();
    };
    m_actions.bindToggle("view.split", this, [toggle](bool) { toggle(Qt::Horizontal); });
    m_actions.bindToggle("view.split_stacked", this, [toggle](bool) { toggle(Qt::Vertical); });
    m_actions.bind("view.close_canvas", this, [this] { closeCanvas(m_context.canvases().activeNumber()); });
    m_actions.bind("view.next_canvas", this, [this] {
        // From a panel to the canvas in use; from one canvas to the other.
        const bool there = canvas()->hasFocus();
        GraphCanvas* next = there && isSplit() ? canvas(1 - m_context.canvases().activeNumber()) : canvas();
        next->setFocus(Qt::ShortcutFocusReason);
    });
}

// --- colours and comparisons ----------------------------------------------------------------------------------------

void MainWindow::bindColourActions() {
    for (const models::NodeColumn& column : models::nodeColumns()) {
        const QString id = QStringLiteral("view.color_") + column.id;
        if (!m_actions.contains(id)) continue;
        m_actions.bindToggle(id, this, [this, column = column.id](bool) {
            m_context.settings().setColorBy(column);
            // A colour means nothing without its scale.
            for (const int number : {0, 1})
                if (canvas(number)) canvas(number)->overlays().setLegendVisible(true);
            m_actions.action(QStringLiteral("view.legend"))->setChecked(true);
            refreshActions();
        });
    }
}

/// What colours or cards tell of values is computed as soon as there is a run.
void MainWindow::measureIfNeeded() {
    using Source = models::NodeColumn::Source;
    const auto isOfValues = [](const QString& id) {
        const int column = models::nodeColumnIndex(id);
        return column >= 0 && models::nodeColumns()[static_cast<std::size_t>(column)].source == Source::Values;
    };
    bool needed = isOfValues(m_context.settings().colorBy());
    for (const context::LabelRule& rule : m_context.settings().labelRules())
        for (const QString& line : rule.lines)
            for (const QString& field : context::fieldsIn(line)) needed = needed || isOfValues(field);
    if (needed) m_context.valueMeasures().compute();
}

void MainWindow::bindCompareActions() {
    context::Comparison& comparison = m_context.comparison();
    m_actions.bind("run.measure", this, [this] { m_context.valueMeasures().compute(); });
    m_actions.bind("compare.keep", this, [&comparison] { comparison.keepRun(); });
    m_actions.bind("compare.kept", this, [&comparison] { comparison.withKeptRun(); });
    m_actions.bind("compare.passes", this, [&comparison] { comparison.withBeforePasses(); });
    m_actions.bind("compare.file", this, [this] { compareWithFile(); });
    m_actions.bind("compare.clear", this, [&comparison] { comparison.clear(); });
    m_actions.bind("compare.again", this, [&comparison] { comparison.again(); });
    m_actions.bind("compare.next", this, [this, &comparison] { goToDifference(comparison.diverging(), 1); });
    m_actions.bind("compare.previous", this, [this, &comparison] { goToDifference(comparison.diverging(), -1); });
    m_actions.bind("compare.worst", this, [this] { goToWorst(); });
    connect(&comparison, &context::Comparison::changed, this, &MainWindow::followComparison);
    connect(&m_context.model(), &context::OpenModel::documentOpened, this, &MainWindow::followComparison);
}

/// Differences are to be seen at once as colours, which go with them. The list of them is a panel.
void MainWindow::followComparison() {
    using Source = models::NodeColumn::Source;
    const context::Comparison& comparison = m_context.comparison();
    const int column = models::nodeColumnIndex(m_context.settings().colorBy());
    const bool colored =
        column >= 0 && models::nodeColumns()[static_cast<std::size_t>(column)].source == Source::Comparison;
    m_worst = {};
    m_said.clear();
    refreshStatus();
    if (comparison.isKnown() == std::exchange(m_showsComparison, comparison.isKnown())) return;
    if (m_showsComparison && !colored) {
        m_colorBefore = m_context.settings().colorBy();
        m_actions.action(QStringLiteral("view.color_difference"))->trigger();
    }
    if (!m_showsComparison && colored)
        m_context.settings().setColorBy(m_colorBefore.isEmpty() ? QStringLiteral("category") : m_colorBefore);
}

void MainWindow::compareWithFile() {
    auto* dialog =
        new QFileDialog(this, tr("Compare With"), context::stored(QStringLiteral("files/folder")).toString());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Reference values and models (*.npz *.onnx *.pt)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, &m_context.comparison(), &context::Comparison::withFile);
    dialog->open();
}

/// Why there is no difference to go to, and what to do.
QString MainWindow::noDifferenceText() const {
    const context::Comparison& comparison = m_context.comparison();
    if (comparison.isActive()) return tr("The comparison has not ended yet");
    if (comparison.isKnown()) {
        const QString remarks = comparison.remarks();
        return comparison.summary() + (remarks.isEmpty() ? QString() : QStringLiteral("; ") + remarks);
    }
    const QKeySequence file = m_actions.action(QStringLiteral("compare.file"))->shortcut();
    return tr("Nothing was compared yet: Run \u203a Compare says with what (%1: with a file)")
        .arg(file.toString(QKeySequence::NativeText));
}

/// The worst, however the selection came to where it is; only from there on to the next worst.
void MainWindow::goToWorst() {
    const std::vector<graph::NodeId> nodes = m_context.comparison().worstFirst();
    if (nodes.empty()) return say(noDifferenceText());
    const auto at = std::ranges::find(nodes, m_worst);
    const bool goesOn = m_worst.valid() && at != nodes.end() && at + 1 != nodes.end();
    const graph::NodeId next = goesOn ? *(at + 1) : nodes.front();
    m_context.navigation().navigateTo(next);
    m_worst = next;  // selecting has cleared it
}

void MainWindow::goToDifference(const std::vector<graph::NodeId>& nodes, int step) {
    m_worst = {};
    if (nodes.empty()) return say(noDifferenceText());
    const int count = static_cast<int>(nodes.size());
    const auto found = std::find(nodes.begin(), nodes.end(), m_context.navigation().selection().node);
    const int at = found == nodes.end() ? (step > 0 ? -1 : 0) : static_cast<int>(found - nodes.begin());
    m_context.navigation().navigateTo(nodes[static_cast<std::size_t>(((at + step) % count + count) % count)]);
}

}  // namespace sonde::window
