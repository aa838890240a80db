"""Small simulations whose definitions are stated in full, with closed forms beside them."""
