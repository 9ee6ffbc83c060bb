#pragma once

#include <QCoreApplication>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

#include <memory>

#include "ui/canvas/graph_canvas.h"
#include "ui/models/node_search.h"
#include "ui/theme/theme.h"
#include "ui/window/main_window.h"
#include "ui/window/window_canvases.h"
#include "ui/window/window_docks.h"
#include "ui/window/window_links.h"
#include "ui/window/window_output.h"

namespace sonde::test {

/// The real window with settings of its own, driven by keys and clicks. Tests derive from it and keep the slots' names.
class WindowFixture : public QObject {
  protected:
    void prepare() {
        QCoreApplication::setOrganizationName(QStringLiteral("SondeTest"));
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, m_settings.path());
        theme::Theme::instance().install(*qApp);
        theme::Theme::instance().setReducedMotion(true);
    }
    void openWindow(QSize size = {1400, 900}) {
        m_window = std::make_unique<window::MainWindow>();
        m_window->resize(size);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_window.get()));
        activate();
    }
    /// Keys reach the actions of the active window only.
    void activate() {
        if (m_window->isActiveWindow()) return;
        m_window->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }
    void closeWindow() {
        if (m_window) m_window->close();
        m_window.reset();
        theme::Theme::instance().setMode(theme::Theme::Mode::Light);
        theme::Theme::instance().setTextScale(1);
    }
    void settle() { QTRY_VERIFY_WITH_TIMEOUT(m_window->isIdle(), 60000); }
    void open(const QString& model) {
        QSignalSpy opened(&context().model(), &context::OpenModel::documentOpened);
        m_window->open(model);
        QVERIFY(opened.wait(30000));
        settle();
    }
    void key(Qt::Key which, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        activate();
        canvas()->setFocus();
        QTest::keyClick(canvas(), which, modifiers);
        QCoreApplication::processEvents();
        settle();
    }
    void run() {
        QSignalSpy finished(&context().runs(), &context::Runs::runFinished);
        key(Qt::Key_F5);
        if (finished.isEmpty()) QVERIFY(finished.wait(60000));
        QCOMPARE(context().runs().state(), context::RunState::Finished);
        settle();
    }
    void click(QWidget* widget, QPointF place, Qt::KeyboardModifiers modifiers = {}) {
        QTest::mouseClick(widget, Qt::LeftButton, modifiers, place.toPoint());
        QCoreApplication::processEvents();
        settle();
    }

    context::InspectorContext& context() { return m_window->context(); }
    canvas::GraphCanvas* canvas() { return m_window->canvases().active(); }
    std::vector<graph::NodeId> find(const char* query) {
        return models::searchNodes(context().model(), context().runs(), context().points(), QLatin1String(query)).nodes;
    }
    graph::NodeId node(const char* query) {
        const auto found = find(query);
        return found.empty() ? graph::NodeId() : found.front();
    }
    QRectF rectOf(canvas::GraphCanvas* shown, graph::NodeId of) {
        return shown->view().rectOf(context().model().graph().node(of).producer);
    }
    static QString file(const char* name) { return QStringLiteral(SONDE_TEST_DATA "/models/") + QLatin1String(name); }

    QTemporaryDir m_settings;
    std::unique_ptr<window::MainWindow> m_window;
};

}  // namespace sonde::test
