// What a person might do, in any order, two thousand times: nothing may crash, get stuck, or grow. Meant to be run with
// AddressSanitizer as well, which tells what was not freed at the end.

#include <QFile>

#include <array>
#include <malloc.h>
#include <random>

#include "tests/support/window_fixture.h"
#include "ui/theme/theme.h"
#include "ui/window/search_bar.h"

namespace tst_soak {

#if defined(__SANITIZE_ADDRESS__)
// Of the sanitizers' allocator_interface.h, which GCC's packages leave out.
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();
#endif

using namespace sonde;

namespace {

/// What is allocated and not freed, in KiB: unlike the resident memory it does not depend on what the allocator keeps.
qint64 livingKiB() {
#if defined(__SANITIZE_ADDRESS__)
    return static_cast<qint64>(__sanitizer_get_current_allocated_bytes() / 1024);
#else
    const struct mallinfo2 info = mallinfo2();
    return static_cast<qint64>((info.uordblks + info.hblkhd) / 1024);
#endif
}

qint64 residentKiB() {
    QFile file(QStringLiteral("/proc/self/statm"));
    return file.open(QIODevice::ReadOnly) ? file.readAll().split(' ')[1].toLongLong() * 4 : 0;
}

}  // namespace

class TestSoak : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() { prepare(); }
    void cleanup() { closeWindow(); }
    void twoThousandRandomActions();
    void openingAndClosingAgainAndAgain();

  private:
    void act(std::mt19937& random, const std::vector<graph::NodeId>& nodes);
    /// Shows the top level of everything, so that two moments can be compared.
    qint64 atRest();
};

void TestSoak::act(std::mt19937& random, const std::vector<graph::NodeId>& nodes) {
    const auto any = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
    static const QStringList queries{"op:linear", "ln", "near:2:#40", "(", "shape:[...]", "nothing"};
    static const QStringList columns{"category", "module", "time", "parameters", "dtype"};
    static constexpr std::array keys{Qt::Key_Up, Qt::Key_Down, Qt::Key_Left, Qt::Key_Right, Qt::Key_Return};
    switch (any(24)) {
        case 0: context().navigation().navigateTo(nodes[any(nodes.size())]); break;
        case 1:
            context().canvases().active().setExpanded(graph::ScopeId(any(context().model().graph().scopeCount())),
                                                      any(2));
            break;
        case 2: context().canvases().active().expandToDepth(static_cast<int>(any(4))); break;
        case 3: m_window->searchBar()->search(queries[static_cast<qsizetype>(any(6))]); break;
        case 4: m_window->searchBar()->next(); break;
        case 5: context().navigation().goBack(); break;
        case 6: context().navigation().goForward(); break;
        case 7: canvas()->view().zoomBy(any(2) ? 1.6 : 0.6); break;
        case 8: canvas()->navigation().fit(); break;
        case 9: context().canvases().active().setFolds(any(2)); break;
        case 10: context().canvases().active().stepInstance(any(2) ? 1 : -1); break;
        case 11: context().canvases().active().focusConeOfSelection(any(2), true); break;
        case 12: context().canvases().active().focusCone(true, any(2), static_cast<int>(1 + any(6))); break;
        case 13: context().canvases().active().hideSelection(); break;
        case 14: context().canvases().active().showEverything(); break;
        case 15: context().navigation().toggleBookmark(context().navigation().selection()); break;
        case 16:
            context().canvases().active().setDirection(any(2) ? layout::Direction::LeftRight
                                                              : layout::Direction::TopDown);
            break;
        case 17: context().canvases().active().setShowsConstants(any(2)); break;
        case 18: context().settings().setColorBy(columns[static_cast<qsizetype>(any(5))]); break;
        case 19: context().canvases().active().isolateSelection(); break;
        case 20: QTest::keyClick(canvas(), keys[any(5)]); break;
        case 21:
            QTest::mouseDClick(canvas(), Qt::LeftButton, {}, {static_cast<int>(any(1200)), static_cast<int>(any(700))});
            break;
        case 22: theme::Theme::instance().setMode(any(2) ? theme::Theme::Mode::Dark : theme::Theme::Mode::Light); break;
        default:
            context().navigation().selectMany({nodes[any(nodes.size())], nodes[any(nodes.size())]});
            context().canvases().active().focusPaths();
            break;
    }
}

qint64 TestSoak::atRest() {
    context().canvases().active().showEverything();
    context().canvases().active().expandToDepth(0);
    canvas()->navigation().fit();
    settle();
    return livingKiB();
}

void TestSoak::twoThousandRandomActions() {
    openWindow();
    open(QStringLiteral("zoo:vit_b_16?layers=5&dim=48&mlp=96&heads=4"));
    std::mt19937 random(7);
    const std::vector<graph::NodeId> nodes = find("not is:weight");
    qint64 warm = 0;
    for (int i = 0; i < 2000; ++i) {
        act(random, nodes);
        QCoreApplication::processEvents();
        if (i % 50 == 49) settle();
        if (i % 500 != 499) continue;
        const qint64 living = atRest();
        qInfo("after %d actions: %lld KiB living, %lld KiB resident", i + 1, static_cast<long long>(living),
              static_cast<long long>(residentKiB()));
        if (i == 499) warm = living;
    }
    QVERIFY(canvas()->view().scene() && !canvas()->view().scene()->items.empty());
    const qint64 grown = atRest() - warm;
    // The layouts of what was opened are kept; their sum is bounded. A scene that leaks at each action would be far
    // more.
    QVERIFY2(grown < 16 * 1024, qPrintable(QStringLiteral("%1 KiB more after 1,500 actions").arg(grown)));
}

void TestSoak::openingAndClosingAgainAndAgain() {
    openWindow();
    qint64 warm = 0;
    for (int i = 0; i < 20; ++i) {
        open(i % 2 ? QStringLiteral("zoo:resnet18") : file("control_flow.onnx"));
        context().canvases().active().expandToDepth(1);
        settle();
        context().loader().close();
        settle();
        if (i == 5) warm = livingKiB();
    }
    const qint64 grown = livingKiB() - warm;
    qInfo("%lld KiB more after fourteen models", static_cast<long long>(grown));
    QVERIFY2(grown < 8 * 1024, qPrintable(QStringLiteral("%1 KiB more").arg(grown)));
}

QTEST_MAIN(TestSoak)

}  // namespace tst_soak

#include "tst_soak.moc"
