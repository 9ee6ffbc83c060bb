#pragma once

#include <QWidget>

#include <optional>
#include <vector>

namespace sonde::widgets {

/// How often values fall into each of equal bins between `low` and `high`.
struct HistogramData {
    double low = 0.0;
    double high = 0.0;
    std::vector<quint64> counts;
    bool operator==(const HistogramData&) const = default;
};

/// A histogram with a read-out of the bin under the pointer, or of the bin that Left and Right move to.
class HistogramPlot : public QWidget {
    Q_OBJECT
  public:
    explicit HistogramPlot(QWidget* parent = nullptr);

    void setData(HistogramData data);
    const HistogramData& data() const { return m_data; }
    /// Heights by the logarithm of the count, so that rare values are seen beside frequent ones.
    void setLogarithmic(bool logarithmic);
    bool isLogarithmic() const { return m_logarithmic; }
    /// The range that colours are given to, drawn as two lines. Nothing for none.
    void setRange(std::optional<std::pair<double, double>> range);

    int currentBin() const { return m_current; }
    void setCurrentBin(int bin);
    /// "-0.5 … -0.25: 1 024 (3.1 %)"; empty without a current bin.
    QString readOut() const;

    QSize sizeHint() const override { return {320, 180}; }
    QSize minimumSizeHint() const override { return {140, 90}; }

  Q_SIGNALS:
    void currentBinChanged(int bin);

  protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

  private:
    QRectF plotRect() const;
    double barHeight(quint64 count) const;
    void paintAxis(QPainter& painter, const QRectF& plot) const;

    HistogramData m_data;
    quint64 m_most = 0;
    quint64 m_total = 0;
    bool m_logarithmic = false;
    std::optional<std::pair<double, double>> m_range;
    int m_current = -1;
};

}  // namespace sonde::widgets
