

def test_relu_read_by_several_outputs_has_one_gate():
    """Adding one number to all a[:,k], or to all c, is not seen by the softmax: 3 translations, each with 14 forms, and
    two scalings; with a gate of its own for every output these would be lost.
    """
    text = "input x[i]; f[o] = softmax[o](a[o,k]*relu(w[k,i]*x[i])+c[o]); size i=2,k=2,o=3"
    program = read_architecture(text, one_region=True)
    assert program.parameter_count == 13
    assert len(affine_generators(program)) == 3 * 14 + 2
