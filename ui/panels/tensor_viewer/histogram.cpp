#include <QVBoxLayout>

#include "ui/context/job.h"
#include "ui/panels/tensor_viewer/tensor_view.h"
#include "ui/widgets/histogram_plot.h"

namespace sonde::panels {
namespace {

constexpr std::size_t kBins = 128;

bool hasNumbers(const tensor::Tensor& tensor) { return isNumeric(tensor) && tensor.numel() > 0; }

class Histogram : public TensorView {
  public:
    Histogram() : m_plot(new widgets::HistogramPlot(this)) {
        auto* column = new QVBoxLayout(this);
        column->setContentsMargins(0, 0, 0, 0);
        m_plot->setMinimumWidth(kMinDrawnWidth);
        column->addWidget(m_plot);
        setFocusProxy(m_plot);
        connect(m_plot, &widgets::HistogramPlot::currentBinChanged, this,
                [this] { Q_EMIT pointed(m_plot->readOut(), std::numeric_limits<double>::quiet_NaN()); });
    }

    void show(const ViewedTensor& shown) override {
        m_plot->setLogarithmic(shown.range.logarithmic);
        m_plot->setRange(std::pair(shown.range.low, shown.range.high));
        if (!shown.stats || areSameElements(m_counted, shown.tensor)) return;
        m_counted = shown.tensor;
        if (shown.stats->finiteCount() == 0) {
            m_job.abandon();  // bins of the tensor before
            return m_plot->setData({});
        }
        // Counting may take long; bins of a tensor that is shown no more are dropped by the job.
        m_job.start(
            [tensor = shown.tensor, low = shown.stats->minimum,
             high = shown.stats->maximum](const base::WorkContext& work) {
                const auto counts = analysis::histogram(tensor, low, high, kBins, work.stop);
                return widgets::HistogramData{low, high, std::vector<quint64>(counts.begin(), counts.end())};
            },
            [this](widgets::HistogramData data) { m_plot->setData(std::move(data)); });
    }

    QString copyText() const override {
        const widgets::HistogramData& data = m_plot->data();
        QString text;
        const double step = (data.high - data.low) / static_cast<double>(std::max<std::size_t>(1, data.counts.size()));
        for (std::size_t i = 0; i < data.counts.size(); ++i)
            text += QStringLiteral("%1\t%2\t%3\n")
                        .arg(data.low + static_cast<double>(i) * step)
                        .arg(data.low + static_cast<double>(i + 1) * step)
                        .arg(data.counts[i]);
        return text;
    }

  private:
    widgets::HistogramPlot* m_plot;
    tensor::Tensor m_counted;
    context::Job m_job;
};

}  // namespace

TensorViewInfo histogramView() {
    TensorViewInfo info;
    info.id = QStringLiteral("histogram");
    info.title = QStringLiteral("Histogram");
    info.icon = QStringLiteral("histogram");
    info.description = QStringLiteral("Distribution of the values of the whole tensor");
    info.accepts = hasNumbers;
    info.usesRange = true;
    info.factory = [] { return new Histogram; };
    return info;
}

}  // namespace sonde::panels
