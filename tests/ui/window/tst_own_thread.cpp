// Pictures of the canvas are painted on the thread that shows them: a frame that waits for Qt's thread pool sticks
// where the machine is busy. Here all threads of the pool are kept busy until the frames are painted.

#include <QSemaphore>
#include <QThreadPool>
#include <QWheelEvent>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/support/window_fixture.h"

namespace tst_own_thread {

using namespace sonde;

namespace {

/// Keeps every thread of Qt's global pool from working, until the end or until somebody has waited for them too long.
class BlockedPool {
  public:
    BlockedPool() : m_watch([this] { watch(); }) {
        for (int i = 0; i < threads(); ++i)
            QThreadPool::globalInstance()->start([this] {
                m_started.release();
                m_go.acquire();
            });
        m_started.acquire(threads());
    }
    ~BlockedPool() {
        end();
        m_watch.join();
        QThreadPool::globalInstance()->waitForDone();
    }
    /// Whether all was painted before the pool had to be let go.
    bool end() {
        {
            const std::lock_guard lock(m_mutex);
            if (!m_ended) m_go.release(threads());
            m_ended = true;
        }
        m_told.notify_all();
        return !m_waited;
    }

  private:
    static int threads() { return QThreadPool::globalInstance()->maxThreadCount(); }
    void watch() {
        std::unique_lock lock(m_mutex);
        if (m_told.wait_for(lock, std::chrono::seconds(30), [this] { return m_ended; })) return;
        m_waited = m_ended = true;
        m_go.release(threads());
    }

    QSemaphore m_started, m_go;
    std::mutex m_mutex;
    std::condition_variable m_told;
    bool m_ended = false, m_waited = false;
    std::thread m_watch;
};

}  // namespace

class TestOwnThread : public test::WindowFixture {
    Q_OBJECT

  private Q_SLOTS:
    void initTestCase() {
        prepare();
        qunsetenv("QT_NO_GUI_THREADPOOL");  // newer Qt is told so; what we paint needs nobody to be told
    }
    void init() { openWindow({1600, 1000}); }
    void cleanup() { closeWindow(); }
    void thePoolCanBeBlocked();
    void framesNeedNoOtherThread_data();
    void framesNeedNoOtherThread();

  private:
    void wheel(int delta) {
        const QPointF middle = QRectF(canvas()->rect()).center();
        QWheelEvent event(middle, canvas()->mapToGlobal(middle), {}, {0, delta}, Qt::NoButton, Qt::NoModifier,
                          Qt::NoScrollPhase, false);
        QApplication::sendEvent(canvas(), &event);
        settle();
    }
    void drag(QPoint by, Qt::KeyboardModifiers modifiers = {}) {
        const QPoint middle = canvas()->rect().center();
        QTest::mousePress(canvas(), Qt::LeftButton, modifiers, middle - by / 2);
        for (int i = 0; i <= 10; ++i) {
            QTest::mouseMove(canvas(), middle - by / 2 + by * i / 10);
            QCoreApplication::processEvents();
        }
        QTest::mouseRelease(canvas(), Qt::LeftButton, modifiers, middle + by / 2);
        settle();
    }
};

void TestOwnThread::thePoolCanBeBlocked() {
    BlockedPool blocked;
    QSemaphore done;
    QThreadPool::globalInstance()->start([&] { done.release(); });
    QVERIFY(!done.tryAcquire(1, 50));
    QVERIFY(blocked.end());
    done.acquire();
}

void TestOwnThread::framesNeedNoOtherThread_data() {
    QTest::addColumn<QString>("model");
    for (const char* model : {"zoo:densenet121", "zoo:vit_b_16?layers=5&dim=48&mlp=96&heads=4", "zoo:unet"})
        QTest::addRow("%s", model) << QString::fromLatin1(model);
}

void TestOwnThread::framesNeedNoOtherThread() {
    QFETCH(QString, model);
    open(model);
    context().canvases().active().expandToDepth(9);
    settle();
    canvas()->navigation().fit();
    settle();
    BlockedPool blocked;
    drag({-480, 180});
    for (int i = 0; i < 20; ++i) wheel(120);
    drag({300, -200});
    drag({300, 300}, Qt::ShiftModifier);  // the rubber band
    for (int i = 0; i < 30; ++i) wheel(-90);
    QVERIFY(blocked.end());
}

QTEST_MAIN(TestOwnThread)

}  // namespace tst_own_thread

#include "tst_own_thread.moc"
